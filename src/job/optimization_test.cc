#include "job/optimization.h"

#include <doctest/doctest.h>

#include "job/pipeline.h"
#include "job/traced_run.h"

namespace penstock {
namespace {

LoadedPipeline built(std::string_view text) {
  return load_pipeline(std::make_shared<const Source>(Source{"test", std::string(text)}), {});
}

constexpr double kMoment = 0.01;  // seconds

MeasuredPair pair_of(std::string_view now, std::string_view found) {
  return measure_pair({built(now).plan}, {built(found).plan}, {}, kMoment);
}

TEST_CASE("the trace of a cache that fills has one pass, whatever the plan repeats") {
  const LoadedPipeline p =
      built("range(40) | map(x -> sum(exp(fill([20000], float32(x))))) | repeat(30)");
  std::vector<std::string> traced;
  OptimizeOptions options = optimize_options(p.prepare, p.run_options, 2, 64 << 20);
  options.trace_seconds = 0.05;
  const OptimizeResult found =
      search_plan(p.built.plan, options, p.run_options,
                  [&](const PlanPtr& plan, const RunOptions& run, const TraceLimits& limits) {
                    traced.push_back(plan_text(plan));
                    return run_alone(plan, run, limits);
                  });
  const auto has = [](const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
  };
  int filling = 0;
  for (const std::string& text : traced) {
    if (!has(text, "cache()") || has(text, "take(")) continue;
    ++filling;
    CHECK(has(text, "repeat(1)"));
  }
  CHECK(filling > 0);
  REQUIRE(found.passes == 30);
  CHECK(has(plan_text(found.plan), "repeat(30)"));
}

TEST_CASE("a program that iterates gets a cache, and the plan of one iteration") {
  const LoadedPipeline p = built("range(40) | map(x -> sum(exp(fill([20000], float32(x)))))");
  OptimizeOptions options = optimize_options(p.prepare, p.run_options, 2, 64 << 20);
  options.trace_seconds = 0.05;
  const auto caches = [&](int64_t iterations) {
    options.iterations = iterations;
    const OptimizeResult found = search_plan(p.built.plan, options, p.run_options);
    CHECK(found.plan->cardinality == 40);
    return plan_text(found.plan).find("cache()") != std::string::npos;
  };
  CHECK(!caches(1));
  CHECK(caches(30));
  const auto cardinality = [](const char* text) {
    return iterated(built(text).plan, 3)->cardinality;
  };
  CHECK(cardinality("range(5)") == 15);
  CHECK(cardinality("range(5) | repeat(2)") == 10);
  CHECK(cardinality("range(5) | repeat()") == kInfinite);
}

TEST_CASE("a plan with other elements is refused") {
  CHECK_THROWS_WITH_AS(
      pair_of("range(9) | map(x -> x + 1)", "range(9) | map(x -> x + 2)"),
      doctest::Contains("the elements of the new plan are not those of the old one"), Error);
  CHECK_NOTHROW(pair_of("range(9) | map(x -> x + 1)", "range(9) | map(x -> 1 + x)"));
}

TEST_CASE("elements that may come in any order are not compared") {
  const std::string reversed = " | map(x -> 8 - x) | with_options(deterministic=false)";
  CHECK_NOTHROW(pair_of("range(9) | with_options(deterministic=false)", "range(9)" + reversed));
}

TEST_CASE("a pair is measured in turn, a plan that fills a cache once") {
  const std::string now = "range(200) | map(x -> x + 1)";
  CHECK(pair_of(now, now).comparison.pairs >= kLeastPairs);
  const MeasuredPair once = pair_of(now + " | repeat(3)", now + " | cache() | repeat(3)");
  CHECK(once.once);
  CHECK(once.comparison.pairs == 1);
  CHECK(!pair_of(now + " | cache()", now + " | cache()").once);
}

}  // namespace
}  // namespace penstock
