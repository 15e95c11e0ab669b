#include "cluster/gaps.h"

#include <doctest/doctest.h>

#include "base/error.h"
#include "cluster/kineto.h"
#include "cluster/profile_json.h"

namespace penstock::cluster {
namespace {

Profile read(const std::string& steps) {
  return read_profile_json("f",
                           R"({"format":"penstock-profile","version":1,"steps":[)" + steps + "]}");
}

TEST_CASE("gaps: a size comes from the same transfer in other steps, what stays unknown is said") {
  Profile p = read(R"({"ops":[{"name":"d","resource":"downlink","bytes":100},
                              {"name":"d","resource":"downlink","bytes":500},
                              {"name":"c","resource":"worker","us":5}]},
                      {"ops":[{"name":"d","resource":"downlink","bytes":300},
                              {"name":"d","resource":"downlink","bytes":0},
                              {"name":"c","resource":"worker"}]},
                      {"ops":[{"name":"d","resource":"downlink"},
                              {"name":"d","resource":"downlink"},
                              {"name":"g","resource":"uplink"},
                              {"name":"s","resource":"server"}, {"name":"joins"}]})");
  fill_gaps(&p);
  CHECK(p.steps[2].ops[0].bytes == 200);
  CHECK(p.steps[2].ops[1].bytes == 250);
  CHECK(p.steps[2].ops[2].bytes == 0);
  REQUIRE(p.notes.size() == 3);
  CHECK(p.notes[0] ==
        "3 of 7 transfers have no size: taken from the same transfer in other steps, 1 of them as "
        "0 bytes");
  CHECK(p.notes[1] == "1 of 2 ops of the worker have no recorded time: taken as 0 s");
  CHECK(p.notes[2] == "1 of 1 ops of the servers have no recorded time: taken as 0 s");
}

TEST_CASE("gaps: nothing is said of a whole profile, and one without any size is refused") {
  Profile whole = read(R"({"ops":[{"name":"d","resource":"downlink","bytes":0},
                                  {"name":"c","resource":"worker","us":5}]})");
  fill_gaps(&whole);
  CHECK(whole.notes.empty());
  Profile none = read(R"({"ops":[{"name":"d","resource":"downlink"},
                                 {"name":"c","resource":"worker","us":5}]})");
  CHECK(write_profile_json(none).find("bytes") == std::string::npos);
  CHECK_THROWS_WITH_AS(fill_gaps(&none),
                       "profile: f: none of its 1 transfers has a size: record them (TensorFlow: "
                       "trace_level=FULL_TRACE; PyTorch: record_shapes=True)",
                       Error);
  Profile ddp = read_kineto("t", R"({"traceEvents":[
      {"ph":"X","name":"ProfilerStep#1","ts":0,"dur":100},
      {"ph":"X","name":"c10d::broadcast_","ts":2,"dur":5},
      {"ph":"X","name":"c10d::allreduce_","ts":50,"dur":5}]})");
  CHECK_THROWS_AS(fill_gaps(&ddp), Error);
}

}  // namespace
}  // namespace penstock::cluster
