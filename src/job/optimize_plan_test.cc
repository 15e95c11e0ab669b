// The search with a measuring function of its own: costs are given, nothing runs.
#include "optimizer/optimize.h"

#include <doctest/doctest.h>

#include <unordered_map>

#include "job/pipeline.h"
#include "job/traced_run.h"
#include "trace/placed_nodes.h"
#include "trace/thread_groups.h"

namespace penstock {
namespace {

constexpr double kMapSeconds = 0.01;  // CPU time of a map per row, other stages cost nothing

PlanPtr plan_of(std::string text) {
  return load_pipeline(std::make_shared<const Source>(Source{"test", std::move(text)}), {})
      .built.plan;
}

StageTrace stage_of(const PlacedNode& placed, int id, int64_t rows) {
  StageTrace s;
  s.id = id;
  s.op = s.label = placed.node->op->name;
  s.parent = placed.parent;
  take_facts(*placed.node->op, &s);
  s.cardinality = placed.node->cardinality;
  s.fixed_size = true;
  s.elements = s.blocks = rows;
  s.bytes = 8 * rows;
  s.can_parallel = s.op == "map";
  return s;
}

// One second of 100 rows in one thread; a map below a full cache costs nothing.
Trace made_trace(const PlanPtr& plan, int64_t skip, size_t slices) {
  constexpr int64_t kRows = 100;
  Trace out;
  out.options = {1, 1 << 30, 4096};
  out.interval = {1, 1, kRows, 0.001, 0, 0, false, false};
  bool below_cache = false;
  std::unordered_map<const PlanNode*, int> ids;
  for (const PlacedNode& placed : placed_nodes(*plan)) {
    const int id = static_cast<int>(out.stages.size());
    ids[placed.node] = id;
    out.stages.push_back(stage_of(placed, id, kRows));
    below_cache |= placed.node->op->caches;
    if (placed.node->op->name == "map")
      out.stages.back().cpu_seconds = below_cache && skip > 0 ? 1e-6 : kMapSeconds * kRows;
  }
  for (const PlacedNode& placed : placed_nodes(*plan)) {
    for (const PlanPtr& input : placed.node->inputs)
      out.stages[static_cast<size_t>(ids[placed.node])].inputs.push_back(ids[input.get()]);
  }
  double cpu = 0;
  for (const StageTrace& s : out.stages) cpu += s.cpu_seconds;
  out.interval.process_cpu_seconds = cpu;
  set_thread_groups(guess_handed_over(out.stages), &out.stages);
  for (size_t i = 0; i < slices; ++i) {
    const double share = (i % 2 == 0 ? 0.9 : 1.1) / static_cast<double>(slices);
    TraceSlice s{share, cpu * share, kRows / static_cast<int64_t>(slices), {}, {}, {}};
    for (const StageTrace& stage : out.stages) {
      s.stage_elements.push_back(s.elements);
      s.stage_bytes_read.push_back(0);
      s.stage_cpu_seconds.push_back(stage.cpu_seconds * share);
    }
    out.slices.push_back(std::move(s));
  }
  return out;
}

OptimizeResult found_with(const std::string& text, int cores, size_t slices) {
  OptimizeOptions options;
  options.cores = options.rules.threads = cores;
  options.memory_bytes = 1 << 30;
  return optimize_plan(plan_of(text), options, [&](const PlanPtr& plan, double, int64_t skip) {
    return made_trace(plan, skip, slices);
  });
}

constexpr const char* kMap = "range(1000) | map(x -> x * x + 3)";

TEST_CASE("optimize_plan: cores multiply the rate of a map, with the interval of its slices") {
  const OptimizeResult out = found_with(kMap, 4, 20);
  const Estimate& rate = out.prediction.rate;
  CHECK(out.rate_before == doctest::Approx(100));
  CHECK(rate.value == doctest::Approx(400));
  CHECK(rate.has_interval());
  CHECK(rate.low < 400);
  CHECK(rate.high > 400);
  CHECK(rate.low > 300);
  CHECK(plan_text(out.plan).find("num_parallel_calls=4") != std::string::npos);
}

TEST_CASE("optimize_plan: a prediction without slices has no interval") {
  CHECK_FALSE(found_with(kMap, 4, 0).prediction.rate.has_interval());
  CHECK_FALSE(found_with(kMap, 4, 5).prediction.rate.has_interval());
}

TEST_CASE("optimize_plan: a cache pays over passes, and the interval holds both kinds of them") {
  const OptimizeResult out = found_with(std::string(kMap) + " | repeat(10)", 2, 20);
  CHECK(plan_text(out.plan).find("cache()") != std::string::npos);
  CHECK(out.passes == 10);
  CHECK(out.prediction.later_passes > 10 * out.prediction.first_pass);
  CHECK(out.prediction.rate.has_interval());
  CHECK(out.prediction.rate.low <= out.prediction.rate.value);
  CHECK(out.prediction.rate.value <= out.prediction.rate.high);
}

}  // namespace
}  // namespace penstock
