#include "cluster/recorded_window.h"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "cluster/calibrate.h"

namespace penstock::cluster {
namespace {

constexpr double kRate = 1e6;

// Transfers requested at the same time, in the order in which they end.
Step transfers(const std::vector<std::pair<int64_t, double>>& bytes_and_ends) {
  Step out;
  for (const auto& [bytes, end_s] : bytes_and_ends) {
    Op op;
    op.name = "t" + std::to_string(out.ops.size());
    op.resource = Resource::downlink;
    op.bytes = bytes;
    op.start_s = 0;
    op.end_s = end_s;
    out.ops.push_back(op);
  }
  return out;
}

Profile profile(std::vector<Step> steps) {
  Profile out;
  out.steps = std::move(steps);
  return out;
}

Rig alone() {
  Rig out;
  out.server_rate = kRate;
  out.sharing = Sharing::equal;
  return out;
}

TEST_CASE("recorded window: a transfer that two others overtook goes in two pieces") {
  // 8 MB send 5, then come 1 and 2 MB, then the other 3.
  const Profile p = profile({transfers({{1'000'000, 6}, {2'000'000, 8}, {8'000'000, 11}})});
  const Windows windows = find_windows(p, kRate);
  CHECK(windows.down_bytes == doctest::Approx(5e6));
  CHECK(windows.up_bytes == 0);
  const Profile split = split_at_windows(p, windows, kRate);
  REQUIRE(split.steps[0].ops.size() == 4);
  CHECK(split.steps[0].ops[2].bytes == 3'000'000);
  CHECK(split.steps[0].ops[3].bytes == 5'000'000);
  CHECK(split.steps[0].ops[3].end_s == -1);
  CHECK(split.steps[0].ops[2].deps == std::vector<int32_t>{3});
  CHECK(end_time_error(split, alone()).most < 1e-6);
  CHECK(end_time_error(p, alone()).most > 0.5);
  CHECK(fit_window(p, alone()).error.most < 1e-6);
  CHECK(fit_window(p, alone()).rig.scheduler.first_bytes == doctest::Approx(5e6));
}

TEST_CASE("recorded window: what had to be sent before is what was overtaken") {
  // Windows of 5 MB. The 6 MB end only 1 MB after the 1 MB: the 5 MB before were theirs.
  Profile p = profile({transfers({{1'000'000, 6}, {8'000'000, 9}})});
  p.steps.push_back(transfers({{1'000'000, 6}, {6'000'000, 7}, {12'000'000, 19}}));
  const Profile split = split_at_windows(p, find_windows(p, kRate), kRate);
  CHECK(split.steps[1].ops[1].bytes == 1'000'000);
  CHECK(split.steps[1].ops[2].bytes == 12'000'000);
}

TEST_CASE("recorded window: pieces behind the first are 1 MiB longer") {
  const double then_s = 5 + 1.048576;
  Profile p = profile({transfers({{1'000'000, 6}, {8'000'000, 9}})});
  p.steps.push_back(transfers({{1'000'000, 6}, {1'000'000, 7 + then_s}, {20'000'000, 22}}));
  const Profile split = split_at_windows(p, {5e6, 0}, kRate);
  REQUIRE(split.steps[1].ops.size() == 5);
  CHECK(split.steps[1].ops[4].bytes == 6'048'576);
  CHECK(end_time_error(split, alone()).most < 1e-6);
}

TEST_CASE("recorded window: a wait that nothing under way explains is none") {
  CHECK(find_windows(profile({transfers({{1'000'000, 6}, {2'000'000, 8}})}), kRate).down_bytes ==
        0);
  CHECK(find_windows(profile({transfers({{1'000'000, 1}, {8'000'000, 9}})}), kRate).down_bytes ==
        0);
}

}  // namespace
}  // namespace penstock::cluster
