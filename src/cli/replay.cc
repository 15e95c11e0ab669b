// penstock replay: the recorded step, replayed with changes.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <string_view>

#include "base/error.h"
#include "cli/args.h"
#include "cli/print_json.h"
#include "cli/progress.h"
#include "cluster/order.h"
#include "cluster/place_search.h"
#include "cluster/predict.h"
#include "cluster/read_profile.h"
#include "cluster/what_if.h"
#include "io/file.h"

namespace penstock::cli {
namespace {

constexpr int64_t kMostNetworkBytes = 1 << 20;

constexpr int64_t kMostWorkers = 10'000;
constexpr int64_t kLeastSlice_bytes = 1024, kMostSlice_bytes = 1'000'000'000'000'000;
constexpr int64_t kMostSlices = 50'000;  // per step

struct Row {
  std::string change;  // empty: as recorded
  cluster::Point point;
};

[[noreturn]] void bad(const std::string& change, const std::string& what) {
  throw Error(Code::invalid_argument, "replay: what-if " + change + ": " + what);
}

// Base of every policy: applied first, then NET.json, then the flags.
class Networks {
 public:
  Networks(const Args& args, const cluster::Profile& profile)
      : lanes_(cluster::worker_lanes(profile)) {
    if (const auto file = args.get("--network")) {
      file_ = *file;
      json_ = read_file(*file, kMostNetworkBytes);
    }
    if (const auto rate = args.get("--bandwidth"))
      rate_ = cluster::parse_rate(*rate) * cluster::kPayloadShare;
  }

  cluster::Rig with_policy(const std::string& policy) const {
    cluster::Rig rig;
    rig.worker_lanes = lanes_;
    cluster::set_policy(policy, &rig);
    if (!file_.empty()) cluster::read_rig(file_, json_, &rig);
    if (rate_ > 0) rig.server_rate = rate_;
    return rig;
  }

 private:
  int32_t lanes_;
  std::string file_, json_;
  double rate_ = 0;
};

// One replay: a profile and a network.
struct Setting {
  cluster::Profile profile;
  cluster::Question q;
  double slice_bytes = 0;  // 0: as in the policy
};

cluster::Question parse_question(const Args& args, const cluster::Profile& profile,
                                 const Networks& networks) {
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

void slice(Setting* s) {
  s->q.rig.scheduler = {s->slice_bytes, s->slice_bytes, cluster::Pieces::by_priority};
}

// Sets up P3 or ByteScheduler: slices of any size; those of the layer needed first go ahead.
void set_slices(const std::string& change, Setting* s) {
  const int64_t bytes =
      cluster::parse_whole(change.substr(6), change, kLeastSlice_bytes, kMostSlice_bytes);
  int64_t slices = 0;
  for (const cluster::Op& op : s->profile.steps[0].ops)
    if (cluster::is_transfer(op.resource)) slices += op.bytes / bytes;
  if (slices > kMostSlices)
    bad(change, std::to_string(slices) + " slices in a step, at most 50000 are simulated");
  s->slice_bytes = static_cast<double>(bytes);
  slice(s);
  s->profile = cluster::with_order(std::move(s->profile), cluster::Order::layer,
                                   s->q.rig.server_rate, s->q.seed);
  s->profile.notes.push_back("what if " + change + ": transfers go in pieces of " +
                             std::to_string(bytes) +
                             " bytes, those of the layer that is needed first ahead of others");
}

// Applies changes of the network; all other changes are the profile's.
void apply(const std::string& change, const Networks& networks, Setting* s) {
  constexpr std::array<std::string_view, 6> kOfServers{
      "policy=", "order=", "slice=", "placement=", "split=", "servers="};
  const bool of_servers =
      std::ranges::any_of(kOfServers, [&](std::string_view w) { return change.starts_with(w); });
  if (of_servers && cluster::has_collectives(s->profile))
    bad(change, "synchronous training without servers has no transfers that it could change");
  if (change.starts_with("policy=")) {
    s->q.rig = networks.with_policy(change.substr(7));
    if (s->slice_bytes > 0) slice(s);
  } else if (change.starts_with("slice=")) {
    set_slices(change, s);
  } else if (change.starts_with("order=")) {
    s->profile = cluster::with_order(std::move(s->profile), cluster::parse_order(change.substr(6)),
                                     s->q.rig.server_rate, s->q.seed);
  } else if (change.starts_with("placement=")) {
    if (s->profile.servers < 2)
      bad(change, "the profile has one server: give --what-if servers=N, too");
    s->profile = change == "placement=optimised"
                     ? cluster::place_optimised(s->profile, s->profile.servers, s->q)
                     : cluster::what_if(std::move(s->profile), change);
  } else {
    s->profile = cluster::what_if(std::move(s->profile), change);
  }
}

// Sorts changes into the order of application: number of servers, then placement, then order.
std::vector<std::string> sorted(std::vector<std::string> changes) {
  std::ranges::stable_sort(changes, {}, [](const std::string& c) {
    if (c.starts_with("servers=")) return 0;
    if (c.starts_with("split=")) return 1;
    if (c.starts_with("placement=")) return 2;
    return c.starts_with("slice=") ? 3 : 4;
  });
  return changes;
}

// Returns the rows to replay: each change alone, a placement on the requested servers, and all
// changes together.
std::vector<std::vector<std::string>> rows_of(const std::vector<std::string>& changes) {
  std::vector<std::vector<std::string>> out;
  for (const std::string& change : changes) {
    std::vector<std::string> row;
    if (change.starts_with("placement=")) {
      for (const std::string& other : changes)
        if (other.starts_with("servers=")) row = {other};
    }
    row.push_back(change);
    out.push_back(row);
  }
  const std::vector<std::string> all = sorted(changes);
  if (changes.size() > 1 && std::ranges::find(out, all) == out.end()) out.push_back(all);
  return out;
}

std::string name_of(const std::vector<std::string>& changes) {
  std::string out;
  for (const std::string& c : changes) out += (out.empty() ? "" : " and ") + c;
  return out;
}

// Compares with the recorded step; differences due to rounding count as none.
double gain(const std::vector<Row>& rows, const Row& r) {
  const double out = r.point.steps_per_s / rows[0].point.steps_per_s - 1;
  return std::fabs(out) < 1e-9 ? 0 : out;
}

void print(const std::vector<Row>& rows, const cluster::Question& q,
           const std::vector<std::string>& notes) {
  std::printf("%d worker%s, payload rate of a link %.1f Mbit/s each way\n", q.workers[0],
              q.workers[0] == 1 ? "" : "s", q.rig.server_rate * 8e-6);
  for (const std::string& n : notes) std::printf("%s\n", wrap("note: " + n, 80, 6).c_str());
  std::printf("\n steps/s   90 %% interval  change   binds     what if\n");
  for (const Row& r : rows) {
    std::printf("%8.2f  %6.2f..%-7.2f %+5.1f %%  %-8s  %s\n", r.point.steps_per_s, r.point.low,
                r.point.high, 100 * gain(rows, r), r.point.binds.c_str(),
                r.change.empty() ? "(as recorded)" : r.change.c_str());
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
                    {"gain", gain(rows, r)}});
  }
  return {{"workers", q.workers[0]}, {"replays", list}, {"notes", notes}};
}

struct Replays {
  std::vector<Row> rows;
  cluster::Question question;
  std::vector<std::string> notes;
};

Replays replay_all(const Args& args) {
  const Progress progress("the profile is read");
  const cluster::Profile recorded = cluster::read_profile(args.positional()[0]);
  const Networks networks(args, recorded);
  const cluster::Question plain = parse_question(args, recorded, networks);
  Replays out{{}, plain, recorded.notes};
  std::vector<std::string>& notes = out.notes;
  const auto note = [&](const std::string& n) {
    if (std::ranges::find(notes, n) == notes.end()) notes.push_back(n);
  };
  const std::vector<std::vector<std::string>> wanted = rows_of(args.all("--what-if"));
  Progress::say("replays");
  Progress::count(0, static_cast<int64_t>(wanted.size() + 1));
  std::vector<Row>& rows = out.rows;
  rows.push_back({"", cluster::predict({recorded}, plain)[0]});
  for (const std::vector<std::string>& changes : wanted) {
    Progress::count(static_cast<int64_t>(rows.size()), static_cast<int64_t>(wanted.size() + 1));
    Setting s{recorded, plain};
    for (const std::string& change : changes) apply(change, networks, &s);
    for (const std::string& n : s.profile.notes) note(n);
    rows.push_back({name_of(changes), cluster::predict({s.profile}, s.q)[0]});
    if (gain(rows, rows.back()) == 0)
      note("what if " + name_of(changes) + ": the replay is the same as the recorded step's");
  }
  return out;
}

int replay(const Args& args) {
  if (args.positional().size() != 1) throw UsageError{"one profile is needed: a file or a folder"};
  // Every possible error is in the call or in the files it names.
  const Replays out = before_work([&] { return replay_all(args); });
  if (args.has("--json")) {
    print_json(to_json(out.rows, out.question, out.notes));
  } else {
    print(out.rows, out.question, out.notes);
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
