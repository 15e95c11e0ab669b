#include "job/stall.h"

#include <doctest/doctest.h>

#include "job/consumed_run.h"
#include "job/pipeline.h"

namespace penstock {
namespace {

PlanPtr plan_of(std::string text) {
  return load_pipeline(std::make_shared<const Source>(Source{"test", std::move(text)}), {})
      .built.plan;
}

RunOptions one_thread() {
  RunOptions out;
  out.threads = 1;
  return out;
}

TEST_CASE("the parts of a step add up to it") {
  int runs = 0;
  const Stall s = measure_stall(
      [&](StallRun kind) {
        const double drift = 1 + 0.001 * (runs++ % 2);
        const double step = kind == StallRun::whole       ? 0.05
                            : kind == StallRun::in_memory ? 0.03
                                                          : 0.02;
        return StepSample{step * drift, 1};
      },
      100);
  CHECK(s.rounds == Stall::kMostRounds);
  CHECK(runs == kStallRuns * s.rounds);
  CHECK(s.storage.value + s.work.value + s.consumer.value == doctest::Approx(s.whole()));
  CHECK(s.storage.value == doctest::Approx(0.02).epsilon(0.01));
  CHECK(s.work.value == doctest::Approx(0.01).epsilon(0.01));
  CHECK(s.consumer.low < 0.02002);
  CHECK(s.consumer.high > 0.02);
  CHECK(s.waiting_share() == doctest::Approx(0.6).epsilon(0.01));
}

TEST_CASE("each kind of run comes first in every third round, and the time limits the rounds") {
  std::vector<StallRun> firsts;
  int runs = 0;
  const Stall s = measure_stall(
      [&](StallRun kind) {
        if (runs++ % kStallRuns == 0) firsts.push_back(kind);
        return StepSample{0.01, 1};
      },
      0);
  CHECK(s.rounds == Stall::kLeastRounds);
  CHECK(firsts == std::vector{StallRun::whole, StallRun::in_memory, StallRun::one_element});
}

TEST_CASE("one element comes again and again") {
  const PlanPtr again = one_element_again(plan_of("range(3, 9) | batch(2)"));
  CHECK(again->cardinality == kInfinite);
  const ConsumedRun run = consume(again, one_thread(), {}, {.steps = 50});
  CHECK(run.steps == 50);
  CHECK_FALSE(run.error);
}

TEST_CASE("the reading part is the highest stage that reads") {
  const auto op_of = [](const char* text) {
    const PlanPtr plan = plan_of(text);
    const PlanNode* part = reading_part(*plan);
    return part ? part->op->name : "";
  };
  CHECK(op_of("text_line(\"x\") | shuffle(3) | map(x -> string_length(x)) | batch(2)") ==
        "text_line");
  CHECK(op_of("files(\"x*\") | interleave(f -> text_line(f)) | batch(2)") == "interleave");
  CHECK(op_of("files(\"x*\") | map(f -> read_file(f)) | batch(2)").empty());
  CHECK(op_of("range(5) | map(x -> x + 1)").empty());
  CHECK(op_of("zip(text_line(\"x\"), text_line(\"y\"))").empty());
}

TEST_CASE("a consumer takes what there is, and stops at an error") {
  const ConsumedRun all = consume(plan_of("range(7)"), one_thread(), {}, {});
  CHECK(all.steps == 7);
  CHECK(all.first_seconds <= all.seconds);
  const ConsumedRun worked = consume(plan_of("range(7)"), one_thread(), {}, {.work_seconds = 1e-6});
  CHECK(worked.steps == 7);
  CHECK(worked.step_seconds >= 1e-6);
  const ConsumedRun failed =
      consume(plan_of("range(7) | map(x -> 6 // (x - 3))"), one_thread(), {}, {});
  CHECK(failed.error);
}

}  // namespace
}  // namespace penstock
