// penstock replay: the recorded step, replayed with changes.

#include <cstdio>

#include "cli/args.h"
#include "cli/print_json.h"
#include "cli/progress.h"
#include "cluster/read_profile.h"
#include "cluster/replay.h"
#include "io/file.h"

namespace penstock::cli {
namespace {

constexpr int64_t kMostNetworkBytes = 1 << 20;

constexpr int64_t kMostWorkers = 10'000;

cluster::Networks parse_networks(const Args& args, const cluster::Profile& profile) {
  cluster::Networks out;
  out.lanes = cluster::worker_lanes(profile);
  if (const auto file = args.get("--network")) {
    out.file = *file;
    out.json = read_file(*file, kMostNetworkBytes);
  }
  if (const auto rate = args.get("--bandwidth"))
    out.rate = cluster::parse_rate(*rate) * cluster::kPayloadShare;
  return out;
}

cluster::Question parse_question(const Args& args, const cluster::Profile& profile,
                                 const cluster::Networks& networks) {
  cluster::Question q;
  q.rig = networks.with_policy(args.get("--policy").value_or("grpc"));
  if (q.rig.server_rate <= 0)
    throw UsageError{"the servers' link rate is needed: --bandwidth 1Gbit or --network NET.json"};
  if (cluster::has_collectives(profile)) q.mode = cluster::Mode::all_reduce;
  const int64_t workers = args.get_int("--workers", 1, 1);
  if (workers > kMostWorkers)
    throw UsageError{"--workers must be from 1 to 10000: " + std::to_string(workers)};
  q.workers = {static_cast<int32_t>(workers)};
  q.seed = static_cast<uint64_t>(args.get_int("--seed", 1, 0));
  return q;
}

void print(const cluster::Replays& replays, const cluster::Question& q) {
  std::printf("%d worker%s, payload rate of a link %.1f Mbit/s each way\n", q.workers[0],
              q.workers[0] == 1 ? "" : "s", q.rig.server_rate * 8e-6);
  for (const std::string& n : replays.notes) std::printf("%s\n", wrap("note: " + n, 80, 6).c_str());
  std::printf("\n steps/s   90 %% interval  change   binds     what if\n");
  for (const cluster::Replay& r : replays.rows) {
    std::printf("%8.2f  %6.2f..%-7.2f %+5.1f %%  %-8s  %s\n", r.point.steps_per_s, r.point.low,
                r.point.high, 100 * gain(replays, r), r.point.binds.c_str(),
                r.change.empty() ? "(as recorded)" : r.change.c_str());
  }
}

nlohmann::ordered_json to_json(const cluster::Replays& replays, const cluster::Question& q) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const cluster::Replay& r : replays.rows) {
    list.push_back({{"what_if", r.change},
                    {"steps_per_s", r.point.steps_per_s},
                    {"low", r.point.low},
                    {"high", r.point.high},
                    {"binds", r.point.binds},
                    {"gain", gain(replays, r)}});
  }
  return {{"workers", q.workers[0]}, {"replays", list}, {"notes", replays.notes}};
}

struct Replayed {
  cluster::Question question;
  cluster::Replays replays;
};

Replayed replay_all(const Args& args) {
  const Progress progress("the profile is read");
  const cluster::Profile recorded = cluster::read_profile(args.positional()[0]);
  const cluster::Networks networks = parse_networks(args, recorded);
  const cluster::Question plain = parse_question(args, recorded, networks);
  const auto ended = [](size_t done, size_t whole) {
    Progress::say("replays");
    Progress::count(static_cast<int64_t>(done), static_cast<int64_t>(whole));
  };
  return {plain, cluster::replay_changes(recorded, plain, networks, args.all("--what-if"), ended)};
}

int replay(const Args& args) {
  if (args.positional().size() != 1) throw UsageError{"one profile is needed: a file or a folder"};
  // Every possible error is in the call or in the files it names.
  const Replayed out = before_work([&] { return replay_all(args); });
  if (args.has("--json")) {
    print_json(to_json(out.replays, out.question));
  } else {
    print(out.replays, out.question);
  }
  return 0;
}

}  // namespace

Command replay_command() {
  return {"replay",
          "PROFILE [flags]",
          "predict the effect of changes on a training step",
          "Simulates the recorded step as it is, with each change, and with all of them together. "
          "PROFILE is as in predict.",
          {{"--what-if", "CHANGE",
            "may be repeated: faster=NAME:K (ops whose name contains NAME take 1/K), "
            "remove=NAME, compress=F or compress=F:NAME (transfers of 1/F the bytes), servers=N "
            "(variables placed anew), placement=greedy, round-robin or optimised (on the servers "
            "recorded or of servers=N), split=BYTES (larger variables in parts of at most BYTES, "
            "spread over the servers), slice=BYTES (transfers in pieces of BYTES, those of earlier "
            "layers ahead: P3 with 200000, ByteScheduler with others), policy=NAME, order=NAME "
            "(both as in predict)"},
           {"--bandwidth", "RATE", "nominal rate of a server's link, each way: 1Gbit, 100MB/s"},
           {"--network", "NET.json", "rates and constants (docs/format/net.md)"},
           {"--policy", "NAME", "as in predict (grpc)"},
           {"--workers", "N", "workers (1)"},
           {"--seed", "N", "seed of the random draws (1)"},
           {"--json", "", "one JSON object (docs/format/replay.md)"}},
          replay};
}

}  // namespace penstock::cli
