#include "cluster/placement.h"

#include <doctest/doctest.h>

#include "base/error.h"
#include "cluster/profile_json.h"

namespace penstock::cluster {
namespace {

// Variables a (30 bytes), b (20), c (10), each read, used by one op, and applied.
Profile three_variables() {
  std::string ops;
  int at = 0;
  for (const auto& [name, bytes] : {std::pair{"a", 30}, std::pair{"b", 20}, std::pair{"c", 10}}) {
    const auto n = [&](int i) { return std::to_string(at + i); };
    const std::string b = std::to_string(bytes);
    ops += std::string(at == 0 ? "" : ",") + R"({"name":")" + name + R"(","resource":"server"},)" +
           R"({"resource":"downlink","bytes":)" + b + R"(,"deps":[)" + n(0) + "]}," +
           R"({"resource":"worker","us":10,"deps":[)" + n(1) + "]}," +
           R"({"resource":"uplink","bytes":)" + b + R"(,"deps":[)" + n(2) + "]}," +
           R"({"resource":"server","us":1,"deps":[)" + n(0) + "," + n(3) + "]}";
    at += 5;
  }
  return read_profile_json(
      "f", R"({"format":"penstock-profile","version":1,"steps":[{"ops":[)" + ops + "]}]}");
}

TEST_CASE("placement: largest first to the emptiest server, with all that belongs to it") {
  const Profile p = place(three_variables(), 2);
  check(p);
  CHECK(p.servers == 2);
  const std::vector<Op>& ops = p.steps[0].ops;
  for (size_t v = 0; v < 3; ++v) {
    const int32_t server = v == 0 ? 0 : 1;  // a alone, b and c together
    for (const size_t part : {0, 1, 3, 4}) CHECK(ops[5 * v + part].server == server);
  }
  CHECK(p.notes.size() == 1);
  const Profile back = place(p, 1);
  for (const Op& op : back.steps[0].ops) CHECK(op.server == 0);
}

TEST_CASE("placement: what cannot be placed is refused") {
  CHECK_THROWS_AS(place(three_variables(), 0), Error);
  const Profile alone = read_profile_json(
      "f", R"({"format":"penstock-profile","version":1,"steps":[{"ops":[{"us":3}]}]})");
  CHECK_THROWS_AS(place(alone, 2), Error);
}

}  // namespace
}  // namespace penstock::cluster
