#include "cluster/order.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "base/error.h"
#include "cluster/predict.h"
#include "cluster/profile_json.h"
#include "cluster/simulator.h"
#include "cluster/tictac.h"

namespace penstock::cluster {
namespace {

// Layers a, b, c of 1000, 500 and 100 bytes, recorded in the order c, b, a; each computes 1 s and
// needs the one before.
Profile three_layers() {
  return read_profile_json("f", R"({"format":"penstock-profile","version":1,"steps":[{"ops":[
    {"name":"va","resource":"server"}, {"name":"vb","resource":"server"},
    {"name":"vc","resource":"server"},
    {"name":"a","resource":"downlink","bytes":1000,"start_us":0,"end_us":30,"deps":[0]},
    {"name":"b","resource":"downlink","bytes":500,"start_us":0,"end_us":20,"deps":[1]},
    {"name":"c","resource":"downlink","bytes":100,"start_us":0,"end_us":10,"deps":[2]},
    {"name":"la","resource":"worker","us":1000000,"deps":[3]},
    {"name":"lb","resource":"worker","us":1000000,"deps":[4,6]},
    {"name":"lc","resource":"worker","us":1000000,"deps":[5,7]},
    {"name":"ga","resource":"uplink","bytes":1000,"deps":[8]},
    {"name":"ua","resource":"server","deps":[0,9]}]}]})");
}

double step_s(const Profile& profile) {
  Rig rig;
  rig.server_rate = 1000;
  rig.sharing = Sharing::equal;
  rig.stagger_s = 0;
  return simulate({plan_step(profile.steps[0], rig)}, rig, Run{1, 1, 1, 1}).end_s;
}

double step_in(const char* order) {
  return step_s(with_order(three_layers(), parse_order(order), 1000, 1));
}

TEST_CASE("order: a step in each order, by hand") {
  // a arrives after 1 s; b and c arrive during its computing.
  for (const char* order : {"reverse", "layer", "tic", "tac"})
    CHECK(step_in(order) == doctest::Approx(1 + 3 + 1));
  CHECK(step_in("sequential") == doctest::Approx(1.6 + 3 + 1));
  CHECK(step_in("random") >= 5 - 1e-9);
  CHECK_THROWS_AS(parse_order("fastest"), Error);
}

TEST_CASE("order: sequential sends one transfer at a time over all servers") {
  Profile p = three_layers();
  p.servers = 3;
  for (size_t k = 0; k < 3; ++k) {
    p.steps[0].ops[k].server = static_cast<int32_t>(k);
    p.steps[0].ops[3 + k].server = static_cast<int32_t>(k);
  }
  Rig rig;
  rig.server_rate = 1000;
  rig.sharing = Sharing::equal;
  rig.stagger_s = 0;
  const auto end_s = [&](const Profile& profile) {
    return simulate({plan_step(profile.steps[0], rig)}, rig, Run{1, 3, 1, 1}).end_s;
  };
  CHECK(end_s(p) == doctest::Approx(1 + 3 + 1));
  CHECK(end_s(with_order(p, Order::sequential, 1000, 1)) == doctest::Approx(1.6 + 3 + 1));
}

TEST_CASE("tictac: TIC goes by the least set that lets an op run, ties share a priority") {
  const std::vector<int32_t> found = tic_priorities(three_layers().steps[0]);
  CHECK(found[3] == 0);  // with b the second op runs
  CHECK(found[4] == 0);
  CHECK(found[5] == 2);  // needs both others
  CHECK(found[0] == -1);
}

TEST_CASE("tictac: TAC prefers what lets more computing start sooner") {
  // p and q each let one op run, then r needs both; q's op is long.
  const Profile p = read_profile_json("f", R"({"format":"penstock-profile","version":1,"steps":[
    {"ops":[{"name":"p","resource":"downlink","bytes":100},
            {"name":"q","resource":"downlink","bytes":100},
            {"resource":"worker","us":10,"deps":[0]},
            {"resource":"worker","us":90,"deps":[1]}]}]})");
  CHECK(tac_priorities(p.steps[0], {100, 100, 10, 90}) == std::vector<int32_t>{1, 0, -1, -1});
  CHECK(tac_priorities(p.steps[0], {100, 100, 90, 10}) == std::vector<int32_t>{0, 1, -1, -1});
}

TEST_CASE("order: the file lists each link from its first transfer") {
  const std::string text = write_order(with_order(three_layers(), Order::layer, 1000, 1));
  CHECK(text.find("\"a\"") < text.find("\"b\""));
  CHECK(text.find("\"b\"") < text.find("\"c\""));
  CHECK(text.find("\"uplink\"") != std::string::npos);
}

}  // namespace
}  // namespace penstock::cluster
