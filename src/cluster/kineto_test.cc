#include "cluster/kineto.h"

#include <doctest/doctest.h>

#include "base/error.h"
#include "cluster/all_reduce.h"
#include "cluster/profile_json.h"

namespace penstock::cluster {
namespace {

// Three buckets of 4 MB, 100 ms of computing before each, 50 ms after them.
const char* const kSteps = R"({"format":"penstock-profile","version":1,"steps":[{"ops":[
  {"name":"c0","resource":"worker","us":100000},
  {"name":"b0","resource":"all_reduce","bytes":4000000,"deps":[0]},
  {"name":"c1","resource":"worker","us":100000,"deps":[0]},
  {"name":"b1","resource":"all_reduce","bytes":4000000,"deps":[2]},
  {"name":"tail","resource":"worker","us":50000,"deps":[1,2,3]}]}]})";

double rate_of(double link, int32_t workers, double step_s = 0) {
  Question q;
  q.mode = Mode::all_reduce;
  q.workers = {workers};
  q.rig.server_rate = link;
  q.rig.burst_bytes = 0;
  q.step_time_s = step_s;
  return predict({read_profile_json("f", kSteps)}, q)[0].steps_per_s;
}

TEST_CASE("all_reduce: closed forms of the bucket replay") {
  CHECK(rate_of(1e9, 1) == doctest::Approx(1 / 0.25));
  CHECK(rate_of(1e9, 1, 0.5) == doctest::Approx(2));
  // W = 2: a bucket takes 4e6 / rate. Computing hides all but the last one:
  CHECK(rate_of(8e7, 2) == doctest::Approx(1 / (0.2 + 0.05 + 0.05)));
  // Slower than computing: they queue.
  CHECK(rate_of(2e7, 2) == doctest::Approx(1 / (0.1 + 0.4 + 0.05)));
  CHECK(rate_of(2e7, 4) == doctest::Approx(1 / (0.1 + 2 * 0.3 + 0.05)));
}

TEST_CASE("all_reduce: a rested link carries a burst at once") {
  Question q;
  q.mode = Mode::all_reduce;
  q.workers = {2};
  q.rig.server_rate = 2e7;
  q.rig.burst_bytes = 1e6;  // saved once: the link does not rest between the buckets
  CHECK(predict({read_profile_json("f", kSteps)}, q)[0].steps_per_s ==
        doctest::Approx(1 / (0.1 + 0.35 + 0.05)));
}

TEST_CASE("all_reduce: rates of nothing are refused") { CHECK_THROWS_AS(rate_of(0, 2), Error); }

constexpr const char* kTrace = R"({"traceEvents":[
  {"ph":"X","name":"ProfilerStep#1","ts":1000,"dur":100000},
  {"ph":"M","name":"process_name"},
  {"ph":"X","name":"c10d::broadcast_","ts":2000,"dur":5,"args":{"Input Dims":[[[10],[5,2]]]}},
  {"ph":"X","name":"c10d::allreduce_","ts":50000,"dur":5,
   "args":{"Input Dims":[[[1000]]],"Input type":["TensorList"]}},
  {"ph":"X","name":"autograd::engine::evaluate_function: x","ts":60000,"dur":10000}]})";

TEST_CASE("kineto: steps become computing, buckets and a tail") {
  const Profile p = read_kineto("t", kTrace);
  REQUIRE(p.steps.size() == 1);
  const std::vector<Op>& ops = p.steps[0].ops;
  REQUIRE(ops.size() == 5);
  CHECK(ops[0].resource == Resource::broadcast);
  CHECK(ops[0].bytes == 80);
  CHECK(ops[2].resource == Resource::all_reduce);
  CHECK(ops[2].bytes == 4000);
  CHECK(ops[2].deps == std::vector<int32_t>{1});
  double total_s = 0;
  for (const Op& op : ops) total_s += op.duration_s;
  CHECK(total_s == doctest::Approx(0.1 - 4 * 11.5e-6));  // four events were recorded
  check(p);
}

TEST_CASE("kineto: waiting for other ranks is no computing") {
  const auto total_s = [](const std::string& ranks, const std::string& more) {
    const std::string text = R"({"distributedInfo":{"world_size":)" + ranks + R"(},"traceEvents":[
      {"ph":"X","name":"ProfilerStep#1","ts":0,"dur":200000},
      {"ph":"X","name":"c10d::broadcast_","ts":1000,"dur":5,"args":{"Input Dims":[[[10]]]}},
      {"ph":"X","name":"c10d::allreduce_","ts":50000,"dur":5,"args":{"Input Dims":[[[10]]]}},
      {"ph":"X","name":"autograd::engine::f","ts":60000,"dur":40000})" +
                             more + "]}";
    const Profile p = read_kineto("t", text);
    double out = 4 * 11.5e-6;
    for (const Op& op : p.steps[0].ops) out += op.duration_s;
    return std::pair(out, p.notes.back());
  };
  const std::string gloo = R"(,{"ph":"X","name":"gloo:broadcast","ts":1000,"dur":9000},
      {"ph":"X","name":"gloo:all_reduce","ts":50000,"dur":80000},
      {"ph":"X","name":"gloo:all_reduce","ts":70000,"dur":70000})";
  const double events_s = 3 * 11.5e-6;
  // 9 ms of the buffers, and 40 ms from the end of the backward pass to that of the last bucket.
  CHECK(total_s("2", gloo).first + events_s == doctest::Approx(0.151));
  CHECK(total_s("2", gloo).second ==
        "recorded with 2 ranks: what a rank waited for gloo's collectives is taken out");
  CHECK(total_s("1", gloo).first + events_s == doctest::Approx(0.2));
  CHECK(total_s("2", "").first == doctest::Approx(0.2));
  CHECK(total_s("2", "").second.find("give --step-time") != std::string::npos);
}

TEST_CASE("kineto: what is no trace of DDP is refused") {
  CHECK(is_kineto(kTrace));
  CHECK_FALSE(is_kineto("step_stats {"));
  CHECK_THROWS_WITH_AS(read_kineto("f", "{"), "profile: f: it is no JSON", Error);
  CHECK_THROWS_WITH_AS(read_kineto("f", R"({"traceEvents":3})"),
                       "profile: f: traceEvents is a list", Error);
  CHECK_THROWS_AS(read_kineto("f", R"({"traceEvents":[]})"), Error);
  CHECK_THROWS_AS(
      read_kineto("f", R"({"traceEvents":[{"ph":"X","name":"ProfilerStep#1","ts":0,"dur":1}]})"),
      Error);
}

}  // namespace
}  // namespace penstock::cluster
