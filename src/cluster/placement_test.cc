#include "cluster/placement.h"

#include <doctest/doctest.h>

#include "base/error.h"
#include "base/source_dir_test.h"
#include "cluster/place_search.h"
#include "cluster/profile_json.h"
#include "cluster/read_profile.h"
#include "cluster/variables_test.h"

namespace penstock::cluster {
namespace {

Profile three_variables() { return profile_of_variables({{"a", 30}, {"b", 20}, {"c", 10}}, 10, 1); }

TEST_CASE("placement: largest first to the emptiest server, with all that belongs to it") {
  const Profile p = place(three_variables(), 2);
  check(p);
  CHECK(p.servers == 2);
  const std::vector<Op>& ops = p.steps[0].ops;
  for (size_t v = 0; v < 3; ++v) {
    const int32_t server = v == 0 ? 0 : 1;  // a alone, b and c together
    for (const size_t part : {0u, 1u, 3u, 4u}) CHECK(ops[5 * v + part].server == server);
  }
  CHECK(p.notes.size() == 1);
  const Profile back = place(p, 1);
  for (const Op& op : back.steps[0].ops) CHECK(op.server == 0);
}

TEST_CASE("placement: round robin, in the order of the step") {
  const Profile p = place(three_variables(), 2, Placement::round_robin);
  for (size_t v = 0; v < 3; ++v) {
    const int32_t server = v == 1 ? 1 : 0;
    for (const size_t part : {0u, 1u, 3u, 4u}) CHECK(p.steps[0].ops[5 * v + part].server == server);
  }
}

TEST_CASE(
    "placement: optimised, two variables of the first layer apart though bytes say together") {
  // c is the largest and needed last: greedy puts a and b on the other server, so that the first
  // layer waits for 60 bytes. With a and b apart it waits for 30, and c arrives while it computes.
  const Profile p =
      read_profile_json("f", R"({"format":"penstock-profile","version":1,"steps":[{"ops":[
    {"name":"a","resource":"server"}, {"name":"b","resource":"server"}, {"name":"c","resource":"server"},
    {"resource":"downlink","bytes":30,"start_us":0,"end_us":1,"deps":[0]},
    {"resource":"downlink","bytes":30,"start_us":0,"end_us":2,"deps":[1]},
    {"resource":"downlink","bytes":40,"start_us":0,"end_us":3,"deps":[2]},
    {"resource":"worker","us":50000000,"deps":[3,4]},
    {"resource":"worker","us":10000000,"deps":[5,6]}]}]})");
  Question q;
  q.workers = {1};
  set_policy("fifo", &q.rig);
  q.rig.server_rate = 1;
  const double greedy = predict({place(p, 2)}, q)[0].steps_per_s;
  const double optimised = predict({place_optimised(p, 2, q)}, q)[0].steps_per_s;
  CHECK(greedy == doctest::Approx(1.0 / 120));    // 60, 50, 10
  CHECK(optimised == doctest::Approx(1.0 / 90));  // 30, 50, 10
}

TEST_CASE("placement: optimised is never behind the others in the prediction that it is made for") {
  const Profile p = read_profile(source_dir() + "/tests/cluster/embmlp");
  Question q;
  q.workers = {2};
  set_policy("grpc", &q.rig);
  q.rig.server_rate = 17.9e6;
  q.rig.worker_lanes = worker_lanes(p);
  for (q.seed = 1; q.seed <= 6; ++q.seed) {
    const auto rate = [&](const Profile& placed) { return predict({placed}, q)[0].steps_per_s; };
    const double optimised = rate(place_optimised(p, 2, q));
    CHECK(optimised >= rate(place(p, 2)));
    CHECK(optimised >= rate(place(p, 2, Placement::round_robin)));
  }
}

TEST_CASE("placement: what cannot be placed is refused") {
  CHECK_THROWS_AS(place(three_variables(), 0), Error);
  const Profile alone = read_profile_json(
      "f",
      R"({"format":"penstock-profile","version":1,"steps":[{"ops":[{"resource":"worker","us":3}]}]})");
  CHECK_THROWS_AS(place(alone, 2), Error);
}

}  // namespace
}  // namespace penstock::cluster
