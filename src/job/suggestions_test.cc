#include "job/suggestions.h"

#include <doctest/doctest.h>

#include <random>

#include "model/model.h"

namespace penstock {
namespace {

// 10 s of: tfrecord | map | batch, on four cores; one thread for each stage.
Trace one_thread_each() {
  Trace t;
  t.options = {4, 1 << 30, 4096};
  t.interval = {10, 12, 100, 0.1, 9, 0, false, false, 0.0};
  t.stages.resize(3);
  for (int i = 0; i < 3; ++i) {
    StageTrace& s = t.stages[static_cast<size_t>(i)];
    s.id = i;
    s.label = s.op = i == 0 ? "batch" : i == 1 ? "map" : "tfrecord";
    if (i < 2) s.inputs = {i + 1};
    s.elements = 100;
    s.thread_group = i;
    s.cpu_seconds = i == 1 ? 9 : 1;
  }
  t.stages[1].can_parallel = true;
  t.stages[2].bytes_read = 1'000'000;
  t.threads = {{"consumer", 1, 1.0, 0.0, 0, 0},
               {"compute", 1, 9.0, 0.0, 0, 0},
               {"io", 1, 1.0, 0.0, 0.1, 0.1}};
  return t;
}

bool speaks_of_threads(const ExplainOptions& o) {
  return !o.plan.empty() && o.plan[0].change.find("more threads") != std::string::npos;
}

TEST_CASE("suggestions: threads for the stage that is short of them, and for no other") {
  const Analysis a = analyze(one_thread_each());
  const ExplainOptions o = suggestions(a);
  REQUIRE(o.plan.size() == 1);
  CHECK(o.plan[0].change.starts_with("give map more threads than 1"));
  CHECK(o.predicted_rate->value == doctest::Approx(4 / 0.12));
}

TEST_CASE("suggestions: no threads where all stages have them") {
  Trace t = one_thread_each();
  t.stages[1].width = 4;
  t.stages[1].cpu_seconds = 36;
  t.interval.process_cpu_seconds = 39;
  const ExplainOptions o = suggestions(analyze(t));
  CHECK_FALSE(speaks_of_threads(o));
  CHECK(o.plan[0].change.starts_with("spend less CPU in map"));
  CHECK_FALSE(o.predicted_rate.has_value());
}

TEST_CASE("suggestions: no threads for a stage that runs in one, whatever its knobs") {
  Trace t = one_thread_each();
  t.stages[1].can_parallel = false;
  const ExplainOptions o = suggestions(analyze(t));
  CHECK_FALSE(speaks_of_threads(o));
  CHECK(o.plan[0].change.starts_with("do less in map"));
}

TEST_CASE("suggestions: a ceiling below the promise caps it") {
  AnalyzeOptions options;
  options.disk_bytes_per_second = 126'000;  // 100 kB/s are read
  const ExplainOptions o = suggestions(analyze(one_thread_each(), options));
  REQUIRE(o.predicted_rate.has_value());
  CHECK(o.predicted_rate->value == doctest::Approx(12.6));
  CHECK(o.plan[0].gain.find("1.26x") != std::string::npos);
}

TEST_CASE("suggestions: no promise is below the rate now or above a ceiling") {
  const unsigned seed = std::random_device{}();
  INFO("seed ", seed);
  std::mt19937 random(seed);
  const auto uniform = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  for (int round = 0; round < 500; ++round) {
    Trace t = one_thread_each();
    double cpu = 0;
    for (StageTrace& s : t.stages) {
      s.cpu_seconds = uniform(0, 10);
      s.width = 1 + static_cast<int64_t>(random() % 4);
      s.can_parallel = random() % 2 == 0;
      cpu += s.cpu_seconds;
    }
    t.interval.process_cpu_seconds = cpu * uniform(1, 2);
    AnalyzeOptions options;
    if (random() % 2 == 0) options.disk_bytes_per_second = uniform(50'000, 1'000'000);
    if (random() % 2 == 0) options.consumer_seconds = uniform(0, 0.2);
    const Analysis a = analyze(t, options);
    const ExplainOptions o = suggestions(a);
    if (!o.predicted_rate) continue;
    CHECK(o.predicted_rate->value > a.rate);
    for (const Ceiling& c : a.ceilings) {
      if (c.kind != Ceiling::Kind::threads) CHECK(o.predicted_rate->value <= c.rate * (1 + 1e-9));
    }
  }
}

TEST_CASE("suggestions: the verdict names no change that is predicted to lose") {
  const Analysis a = analyze(one_thread_each());
  ExplainOptions o;
  o.plan = {{"map: num_parallel_calls 1 -> 2", "6.50/s"}};
  o.predicted_rate = Estimate{6, 6.5, 7};
  CHECK(verdict_line(a, o).find("best change") == std::string::npos);
  o.predicted_rate = Estimate{20, 25, 30};
  CHECK(verdict_line(a, o).find("best change: map") != std::string::npos);
}

}  // namespace
}  // namespace penstock
