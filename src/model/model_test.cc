#include "model/model.h"

#include <doctest/doctest.h>

#include <cmath>
#include <random>

#include "model/lp.h"
#include "model/made_stage_test.h"
#include "trace/thread_groups.h"

namespace penstock {
namespace {

// 10 s of: files | interleave(tfrecord) | map in two threads | batch(10)
Trace made_trace() {
  Trace t;
  t.options = {4, 1'000'000, 4096};
  t.machine.cores = 4;
  t.interval = {10, 26, 100, 0.1, 1, 0, false, false};
  t.stages = {made_stage(0, "batch", {1}, 100, 1), made_stage(1, "map", {2}, 1000, 18),
              made_stage(2, "interleave", {4}, 1000, 2), made_stage(3, "tfrecord", {}, 1000, 3),
              made_stage(4, "files", {}, 4, 0)};
  t.stages[1].can_parallel = t.stages[1].parallel = true;
  t.stages[1].calls = t.stages[1].limit = 2;
  t.stages[2].can_parallel = true;
  t.stages[3].parent = 2;
  t.stages[3].bytes_read = 120'000;
  t.stages[3].source_bytes = 480'000;
  t.stages[3].files_opened = 4;
  t.stages[4].cardinality = 16;
  set_thread_groups(guess_handed_over(t.stages), &t.stages);
  return t;
}

TEST_CASE("the LP gives what the closed form gives") {
  const unsigned seed = std::random_device{}();
  INFO("seed ", seed);
  std::mt19937 random(seed);
  const auto uniform = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  for (int round = 0; round < 300; ++round) {
    std::vector<StageDemand> stages(1 + random() % 12);
    for (StageDemand& s : stages) {
      s.rate_per_core = random() % 8 == 0 ? kNoBound : std::pow(10, uniform(-2, 7));
      s.sequential = random() % 3 == 0;
    }
    const double cores = static_cast<double>(1 + random() % 64);
    const double closed = allocation_rate(stages, cores);
    const Allocation lp = allocate_cores(stages, cores);
    if (std::isinf(closed)) {
      CHECK(std::isinf(lp.rate));
      continue;
    }
    CHECK(lp.rate == doctest::Approx(closed).epsilon(1e-6));
    double sum = 0;
    for (size_t i = 0; i < stages.size(); ++i) {
      sum += lp.cores[i];
      if (!std::isinf(stages[i].rate_per_core))
        CHECK(lp.cores[i] * stages[i].rate_per_core >= closed * (1 - 1e-6));
      if (stages[i].sequential) CHECK(lp.cores[i] <= 1 + 1e-6);
    }
    CHECK(sum <= cores * (1 + 1e-6));
    if (lp.binding >= 0) CHECK(stages[static_cast<size_t>(lp.binding)].sequential);
    // The price of a core is the slope of the closed form, away from its corner.
    const double slope =
        allocation_rate(stages, cores * 1.0001) - allocation_rate(stages, cores * 0.9999);
    const double priced = lp.core_price * cores * 0.0002;
    if (std::abs(slope) > closed * 1.9e-4 || slope == 0)
      CHECK(priced == doctest::Approx(slope).epsilon(1e-3));
  }
}

TEST_CASE("an LP that has no answer says so") {
  LpModel infeasible;
  const int x = infeasible.add_variable(1, 0, 1);
  infeasible.add_row({{x, 1}}, 2, kNoBound);
  CHECK_FALSE(infeasible.maximise());
  LpModel unbounded;
  unbounded.add_variable(1);
  CHECK_FALSE(unbounded.maximise());
}

TEST_CASE("a stage that never gets anywhere makes the rate 0") {
  const std::vector<StageDemand> stages{{0, false}, {5, true}};
  CHECK(allocate_cores(stages, 4).rate == 0);
  CHECK(allocation_rate(stages, 4) == 0);
}

TEST_CASE("Little's law holds between rates, demands and cores") {
  const Analysis a = analyze(made_trace());
  CHECK(a.rate == doctest::Approx(10));
  double cores = 0;
  for (const StageModel& s : a.stages) {
    CHECK(s.cores_used == doctest::Approx(a.rate * s.demand_seconds));
    CHECK(s.rate == doctest::Approx(a.rate * s.visit_ratio));
    CHECK(s.busy + s.starved + s.blocked == doctest::Approx(1));
    CHECK(s.busy >= 0);
    CHECK(s.starved >= 0);
    CHECK(s.blocked >= 0);
    cores += s.cores_used;
  }
  CHECK(cores == doctest::Approx(a.attributed_cpu_seconds / 10));
  CHECK(a.rate * a.demand_seconds == doctest::Approx(cores));
  CHECK(a.unattributed_cpu_seconds == doctest::Approx(2));
  CHECK(a.stages[1].bytes_in == doctest::Approx(1000));
  CHECK(a.stages[3].bytes_in == doctest::Approx(1200));
}

TEST_CASE("ceilings stand in order and name who holds the rate") {
  AnalyzeOptions options;
  options.disk_bytes_per_second = 1e6;
  options.consumer_seconds = 0.02;
  const Analysis a = analyze(made_trace(), options);
  REQUIRE(a.threads.size() == 3);  // the consumer's, the map's, the driver's
  CHECK(a.threads[1].stages == std::vector<int>{1});
  CHECK(a.threads[2].stages == std::vector<int>{2, 3, 4});
  REQUIRE(a.ceilings.size() == 6);
  CHECK(a.ceilings[0].rate == doctest::Approx(2 / 0.18));
  CHECK(a.ceilings[0].stage == 1);
  for (size_t i = 1; i < a.ceilings.size(); ++i)
    CHECK(a.ceilings[i - 1].rate <= a.ceilings[i].rate);
  CHECK(a.verdict.input_bound);
  CHECK(a.verdict.holder == Verdict::Holder::stage);
  CHECK(a.verdict.stage == 1);
  CHECK(a.verdict.exposed_seconds == doctest::Approx(0.08));
  // With free knobs the cores limit it: four, with 0.24 s of work per element.
  CHECK(a.best.rate == doctest::Approx(4 / 0.24));
}

TEST_CASE("rates hold from the first element on, sizes for the whole run") {
  Trace t = made_trace();  // 10 s, 100 elements
  auto fill = std::make_shared<Trace>(t);
  fill->interval = {9, 23, 1, 9, 0, 0, false, false};
  for (StageTrace& s : fill->stages) {
    s.elements = s.elements * 8 / 10;
    s.cpu_seconds *= 0.8;
  }
  const Analysis together = analyze(t);
  t.fill = fill;
  const Analysis apart = analyze(t);
  CHECK(apart.rate == doctest::Approx(99));
  CHECK(apart.fill_seconds == doctest::Approx(9));
  CHECK(apart.stages[1].rate == doctest::Approx(200));
  CHECK(apart.stages[1].demand_seconds == doctest::Approx(3.6 / 99));
  CHECK(apart.coverage == together.coverage);
  CHECK(apart.stages[1].size.elements.value == together.stages[1].size.elements.value);
  SUBCASE("a short fill is no matter") {
    fill->interval.seconds = 0.01;
    CHECK(analyze(t).rate == together.rate);
  }
  SUBCASE("nothing came after the fill") {
    fill->interval.elements = 100;
    const Analysis a = analyze(t);
    CHECK(a.rate == together.rate);
    CHECK(a.too_short);
  }
}

TEST_CASE("a consumer that is slower than the input is no input problem") {
  AnalyzeOptions options;
  options.consumer_seconds = 0.5;
  const Analysis a = analyze(made_trace(), options);
  CHECK_FALSE(a.verdict.input_bound);
  CHECK(a.verdict.holder == Verdict::Holder::consumer);
}

TEST_CASE("sizes come from counts, files read and what is below") {
  Trace t = made_trace();
  SUBCASE("from the part of the files that was read") {
    const Analysis a = analyze(t);
    CHECK(a.coverage == doctest::Approx(0.25));
    const StageSize& size = a.stages[1].size;
    CHECK(size.extent == Extent::estimated);
    CHECK(size.elements.value == doctest::Approx(4000));
    CHECK(size.bytes.value == doctest::Approx(400'000));
    CHECK(size.bytes.low < size.bytes.value);
    CHECK(size.bytes.high > size.bytes.value);
    CHECK(a.stages[1].cache == CacheVerdict::yes);
    CHECK(a.stages[3].cache == CacheVerdict::nested);
  }
  SUBCASE("exactly, at the end") {
    t.interval.ended = true;
    const Analysis a = analyze(t);
    CHECK(a.stages[1].size.extent == Extent::exact);
    CHECK(a.stages[1].size.bytes.value == 100'000);
  }
  SUBCASE("longer traces give narrower intervals") {
    const double wide = analyze(t).stages[1].size.bytes.high;
    for (StageTrace& s : t.stages) {
      s.elements *= 2;
      s.bytes *= 2;
      s.bytes_read *= 2;
    }
    CHECK(analyze(t).stages[1].size.bytes.high < wide);
    CHECK(analyze(t).stages[1].size.bytes.value == doctest::Approx(400'000));
  }
  SUBCASE("what is random, endless or too large is not cached") {
    t.stages[2].random = true;
    CHECK(analyze(t).stages[1].cache == CacheVerdict::random);
    CHECK(analyze(t).stages[4].cache == CacheVerdict::yes);
    t.stages[2].random = false;
    t.stages[1].cardinality = -1;
    CHECK(analyze(t).stages[1].cache == CacheVerdict::infinite);
    AnalyzeOptions options;
    options.memory_bytes = 100'000;
    CHECK(analyze(t, options).stages[2].cache == CacheVerdict::too_large);
  }
}

}  // namespace
}  // namespace penstock
