#include "cluster/clocks.h"

#include <doctest/doctest.h>

#include "cluster/profile_json.h"

namespace penstock::cluster {
namespace {

// The server's records begin `late` microseconds after the worker's, the worker's at `worker`.
Profile step(int worker, int late) {
  const auto times = [](int from, int to) {
    return R"(,"start_us":)" + std::to_string(from) + R"(,"end_us":)" + std::to_string(to) + "}";
  };
  return read_profile_json(
      "f", R"({"format":"penstock-profile","version":1,"steps":[{"ops":[
      {"name":"d","resource":"downlink","bytes":5)" +
               times(worker, worker + 100) + R"(,{"name":"c","resource":"worker","us":200)" +
               times(worker + 100, worker + 300) + R"(,{"name":"u","resource":"uplink","bytes":5)" +
               times(worker + late, worker + late + 300) + "]}]}");
}

TEST_CASE("clocks: a server far before or behind the worker begins with it") {
  for (const auto& [worker, late] : {std::pair{5'000'000, -5'000'000}, std::pair{7, 5'000'000}}) {
    Profile p = step(worker, late);
    align_clocks(&p);
    const std::vector<Op>& ops = p.steps[0].ops;
    CHECK(ops[0].start_s == doctest::Approx(0).epsilon(1e-9));
    CHECK(ops[1].end_s == doctest::Approx(300e-6));
    CHECK(ops[2].start_s == doctest::Approx(0).epsilon(1e-9));
    CHECK(ops[2].end_s == doctest::Approx(300e-6));
    REQUIRE(p.notes.size() == 1);
    CHECK(p.notes[0] == std::string("the clock of server 0 is off by ") + (late < 0 ? "-5" : "+5") +
                            " s in 1 of 1 steps: its records are taken to begin with the worker's");
  }
}

TEST_CASE("clocks: records that overlap or follow one another stay") {
  for (const int late : {0, 150, 300, 400}) {
    Profile p = step(0, late);
    align_clocks(&p);
    CHECK(p.notes.empty());
    CHECK(p.steps[0].ops[2].start_s == doctest::Approx(late * 1e-6));
  }
}

}  // namespace
}  // namespace penstock::cluster
