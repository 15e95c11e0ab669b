#include "cluster/split.h"

#include <doctest/doctest.h>

#include <set>
#include <string>

#include "base/error.h"
#include "cluster/placement.h"
#include "cluster/predict.h"
#include "cluster/variables_test.h"

namespace penstock::cluster {
namespace {

Profile two_variables(int servers) {
  return profile_of_variables({{"a", 1000}, {"b", 100}}, 1'000'000, 400'000, servers);
}

struct Sums {
  int64_t bytes = 0;
  double worker_s = 0, server_s = 0;
};
Sums sums(const Profile& p) {
  Sums out;
  for (const Op& op : p.steps[0].ops) {
    out.bytes += op.bytes;
    if (op.resource == Resource::worker) out.worker_s += op.duration_s;
    if (op.resource == Resource::server) out.server_s += op.duration_s;
  }
  return out;
}

TEST_CASE(
    "split: parts of at most the size, on the emptiest servers, with all that belongs to them") {
  const Profile whole = two_variables(3), p = split_variables(whole, 400);
  check(p);
  const Sums before = sums(whole), after = sums(p);
  CHECK(after.bytes == before.bytes);
  CHECK(after.worker_s == doctest::Approx(before.worker_s));
  CHECK(after.server_s == doctest::Approx(before.server_s));
  std::set<int32_t> servers;
  int parts = 0;
  for (const Op& op : p.steps[0].ops) {
    if (is_transfer(op.resource)) {
      CHECK(op.bytes <= 400);
    }
    if (!op.name.starts_with("apply/part_")) continue;
    ++parts;
    servers.insert(op.server);
    // An update waits for its own part's gradient only.
    for (const int32_t d : op.deps)
      CHECK(p.steps[0].ops[static_cast<size_t>(d)].server == op.server);
  }
  CHECK(parts == 3);
  CHECK(servers == std::set<int32_t>{0, 1, 2});
  // From then on each part is a variable of its own.
  const Profile together = place(p, 1);
  for (const Op& op : together.steps[0].ops) CHECK(op.server == 0);
  CHECK(places_of(p, 2, Placement::greedy).size() == 4);
}

TEST_CASE("split: what is computed from a variable waits for all its parts") {
  Question q;
  q.workers = {1};
  set_policy("fifo", &q.rig);
  q.rig.server_rate = 1000;
  q.rig.worker_lanes = 2;
  // Whole: 1 s down, 1 s, 1 s up, 0.4 s, which hides b. In halves: 0.5, 1, 0.5, 0.2.
  const Profile p = two_variables(2);
  Profile apart = p;
  for (size_t i = 5; i < 10; ++i) apart.steps[0].ops[i].bytes = 0;
  CHECK(1 / predict({apart}, q)[0].steps_per_s == doctest::Approx(3.4));
  CHECK(1 / predict({split_variables(apart, 500)}, q)[0].steps_per_s == doctest::Approx(2.2));
}

TEST_CASE("split: variables that are small enough stay, and too many parts are refused") {
  const Profile p = split_variables(two_variables(2), 500);
  const Op& small = p.steps[0].ops[9];
  CHECK(small.bytes == 0);
  for (const Op& op : p.steps[0].ops) {
    if (op.name == "b") {
      CHECK(op.server == 0);
    }
  }
  CHECK_THROWS_AS(split_variables(two_variables(2), 1000), Error);
  Profile large = two_variables(1);
  large.steps[0].ops[1].bytes = 1'000'000'000;
  CHECK_THROWS_AS(split_variables(large, 1), Error);
  CHECK_THROWS_AS(split_variables(large, 60'000), Error);  // 16667 parts of 4 ops
}

}  // namespace
}  // namespace penstock::cluster
