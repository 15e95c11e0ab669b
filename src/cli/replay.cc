// penstock replay: the recorded step with changes.

#include <cstdio>

#include "cli/args.h"
#include "cli/print_json.h"
#include "cluster/order.h"
#include "cluster/predict.h"
#include "cluster/read_profile.h"
#include "cluster/what_if.h"
#include "io/file.h"

namespace penstock::cli {
namespace {

constexpr int64_t kMostNetworkBytes = 1 << 20;

struct Row {
  std::string change;  // empty: as recorded
  cluster::Point point;
};

cluster::Question parse_question(const Args& args, const cluster::Profile& profile) {
  cluster::Question q;
  q.rig.worker_lanes = cluster::worker_lanes(profile);
  cluster::set_policy(args.get("--policy").value_or("grpc"), &q.rig);
  if (const auto file = args.get("--network"))
    cluster::read_rig(*file, read_file(*file, kMostNetworkBytes), &q.rig);
  if (const auto rate = args.get("--bandwidth"))
    q.rig.server_rate = cluster::parse_rate(*rate) * cluster::kPayloadShare;
  if (q.rig.server_rate <= 0)
    throw UsageError{"the servers' link rate is needed: --bandwidth 1Gbit or --network NET.json"};
  if (cluster::has_collectives(profile)) q.mode = cluster::Mode::all_reduce;
  q.workers = {static_cast<int32_t>(std::min<int64_t>(args.get_int("--workers", 1, 1), 10'000))};
  q.seed = static_cast<uint64_t>(args.get_int("--seed", 1, 0));
  return q;
}

// "policy=NAME" and "order=NAME" change the network, everything else the profile.
void apply(const std::string& change, cluster::Profile* profile, cluster::Question* q) {
  if (change.starts_with("policy=")) {
    cluster::set_policy(change.substr(7), &q->rig);
  } else if (change.starts_with("order=")) {
    *profile = cluster::with_order(std::move(*profile), cluster::parse_order(change.substr(6)),
                                   q->rig.server_rate, q->seed);
  } else {
    *profile = cluster::what_if(std::move(*profile), change);
  }
}

void print(const std::vector<Row>& rows, const cluster::Question& q,
           const std::vector<std::string>& notes) {
  std::printf("%d workers, payload rate of a link %.1f Mbit/s each way\n", q.workers[0],
              q.rig.server_rate * 8e-6);
  for (const std::string& n : notes) std::printf("%s\n", wrap("note: " + n, 80, 6).c_str());
  std::printf("\n steps/s   90 %% interval  change   binds     what if\n");
  for (const Row& r : rows) {
    std::printf("%8.2f  %6.2f..%-7.2f %+5.1f %%  %-8s  %s\n", r.point.steps_per_s, r.point.low,
                r.point.high, 100 * (r.point.steps_per_s / rows[0].point.steps_per_s - 1),
                r.point.binds.c_str(), r.change.empty() ? "(as recorded)" : r.change.c_str());
  }
}

nlohmann::ordered_json to_json(const std::vector<Row>& rows, const cluster::Question& q,
                               const std::vector<std::string>& notes) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Row& r : rows) {
    list.push_back({{"what_if", r.change},
                    {"steps_per_s", r.point.steps_per_s},
                    {"low", r.point.low},
                    {"high", r.point.high},
                    {"binds", r.point.binds},
                    {"gain", r.point.steps_per_s / rows[0].point.steps_per_s - 1}});
  }
  return {{"workers", q.workers[0]}, {"replays", list}, {"notes", notes}};
}

int replay(const Args& args) {
  if (args.positional().size() != 1) throw UsageError{"one profile is needed: a file or a folder"};
  const cluster::Profile recorded = cluster::read_profile(args.positional()[0]);
  const cluster::Question plain = parse_question(args, recorded);
  std::vector<std::string> notes = recorded.notes;
  std::vector<Row> rows{{"", cluster::predict({recorded}, plain)[0]}};
  cluster::Profile all = recorded;
  cluster::Question all_q = plain;
  const std::vector<std::string> changes = args.all("--what-if");
  std::string joined;
  for (const std::string& change : changes) {
    cluster::Profile one = recorded;
    cluster::Question q = plain;
    apply(change, &one, &q);
    apply(change, &all, &all_q);
    if (one.notes.size() > recorded.notes.size()) notes.push_back(one.notes.back());
    rows.push_back({change, cluster::predict({one}, q)[0]});
    joined += (joined.empty() ? "" : " and ") + change;
  }
  if (changes.size() > 1) rows.push_back({joined, cluster::predict({all}, all_q)[0]});
  if (args.has("--json")) {
    print_json(to_json(rows, plain, notes));
  } else {
    print(rows, plain, notes);
  }
  return 0;
}

}  // namespace

Command replay_command() {
  return {"replay",
          "PROFILE [flags]",
          "a training step with changes: what would it bring",
          "Simulates the recorded step as it is, with each change, and with all of them together. "
          "PROFILE is what predict reads.",
          {{"--what-if", "CHANGE",
            "may be given many times: faster=NAME:K (ops whose name contains NAME take 1/K), "
            "remove=NAME, compress=F or compress=F:NAME (transfers of 1/F the bytes), servers=N "
            "(variables placed anew), policy=NAME, order=NAME (both as in predict)"},
           {"--bandwidth", "RATE", "nominal rate of a server's link, each way: 1Gbit, 100MB/s"},
           {"--network", "NET.json", "rates and constants (docs/format/net.md)"},
           {"--policy", "NAME", "as in predict (grpc)"},
           {"--workers", "N", "workers (1)"},
           {"--seed", "N", "of the draws (1)"},
           {"--json", "", "one JSON object (docs/format/replay.md)"}},
          replay};
}

}  // namespace penstock::cli
