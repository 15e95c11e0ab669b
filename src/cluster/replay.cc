#include "cluster/replay.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "cluster/order.h"
#include "cluster/place_search.h"
#include "cluster/what_if.h"

namespace penstock::cluster {
namespace {

constexpr int64_t kLeastSlice_bytes = 1024, kMostSlice_bytes = 1'000'000'000'000'000;
constexpr int64_t kMostSlices = 50'000;  // per step

// One replay: a profile and a network.
struct Setting {
  Profile profile;
  Question q;
  double slice_bytes = 0;  // 0: as in the policy
};

[[noreturn]] void bad(const std::string& change, const std::string& what) {
  throw Error(Code::invalid_argument, "replay: what-if " + change + ": " + what);
}

void slice(Setting* s) {
  s->q.rig.scheduler = {s->slice_bytes, s->slice_bytes, Pieces::by_priority};
}

// Sets up P3 or ByteScheduler: slices of any size; those of the layer needed first go ahead.
void set_slices(const std::string& change, Setting* s) {
  const int64_t bytes = parse_whole(change.substr(6), change, kLeastSlice_bytes, kMostSlice_bytes);
  int64_t slices = 0;
  for (const Op& op : s->profile.steps[0].ops)
    if (is_transfer(op.resource)) slices += op.bytes / bytes;
  if (slices > kMostSlices)
    bad(change, std::to_string(slices) + " slices in a step, at most 50000 are simulated");
  s->slice_bytes = static_cast<double>(bytes);
  slice(s);
  s->profile = with_order(std::move(s->profile), Order::layer, s->q.rig.server_rate, s->q.seed);
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
  if (of_servers && has_collectives(s->profile))
    bad(change, "synchronous training without servers has no transfers that it could change");
  if (change.starts_with("policy=")) {
    s->q.rig = networks.with_policy(change.substr(7));
    if (s->slice_bytes > 0) slice(s);
  } else if (change.starts_with("slice=")) {
    set_slices(change, s);
  } else if (change.starts_with("order=")) {
    s->profile = with_order(std::move(s->profile), parse_order(change.substr(6)),
                            s->q.rig.server_rate, s->q.seed);
  } else if (change.starts_with("placement=")) {
    if (s->profile.servers < 2)
      bad(change, "the profile has one server: give --what-if servers=N, too");
    s->profile = change == "placement=optimised"
                     ? place_optimised(s->profile, s->profile.servers, s->q)
                     : what_if(std::move(s->profile), change);
  } else {
    s->profile = what_if(std::move(s->profile), change);
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

}  // namespace

Rig Networks::with_policy(const std::string& policy) const {
  Rig rig;
  rig.worker_lanes = lanes;
  set_policy(policy, &rig);
  if (!file.empty()) read_rig(file, json, &rig);
  if (rate > 0) rig.server_rate = rate;
  return rig;
}

double gain(const Replays& replays, const Replay& row) {
  const double out = row.point.steps_per_s / replays.rows[0].point.steps_per_s - 1;
  return std::fabs(out) < 1e-9 ? 0 : out;
}

Replays replay_changes(const Profile& recorded, const Question& question, const Networks& networks,
                       const std::vector<std::string>& changes,
                       const std::function<void(size_t ended, size_t whole)>& ended) {
  Replays out{{}, recorded.notes};
  const auto note = [&](const std::string& n) {
    if (std::ranges::find(out.notes, n) == out.notes.end()) out.notes.push_back(n);
  };
  const std::vector<std::vector<std::string>> wanted = rows_of(changes);
  const auto tell = [&] {
    if (ended) ended(out.rows.size(), wanted.size() + 1);
  };
  tell();
  out.rows.push_back({"", predict({recorded}, question)[0]});
  for (const std::vector<std::string>& row : wanted) {
    tell();
    Setting s{recorded, question};
    for (const std::string& change : row) apply(change, networks, &s);
    for (const std::string& n : s.profile.notes) note(n);
    out.rows.push_back({name_of(row), predict({s.profile}, s.q)[0]});
    if (gain(out, out.rows.back()) == 0)
      note("what if " + name_of(row) + ": the replay is the same as the recorded step's");
  }
  return out;
}

}  // namespace penstock::cluster
