#include "job/function_times.h"

#include <algorithm>
#include <functional>

#include "job/deadline.h"
#include "runtime/counters.h"

namespace penstock {
namespace {

constexpr int64_t kMostRows = 4096;
constexpr int64_t kMostBytes = 32 << 20;
constexpr double kMostSeconds = 0.5;

// Runs the function over the first blocks of its input, within a time limit.
FunctionReport measure(const PlanPtr& rows, const std::string& stage, const std::string& name,
                       const Function& f, const RunOptions& options, RunObserver* observer) {
  FunctionReport out{stage, name, 0, 0, {}};
  BlockIterator input(rows, options, std::make_shared<PipelineState>());
  const Observed observed(observer, &input);
  const Deadline deadline(&input, kMostSeconds);
  Block block;
  int64_t bytes = 0, most = 16;
  const auto next = [&] {
    try {
      return input.next(&block, std::min(most, kMostRows - out.rows));
    } catch (const Error& e) {
      if (e.code() != Code::cancelled || observed.is_stopped()) throw;
      return false;  // no row came in time
    }
  };
  while (out.rows < kMostRows && bytes < kMostBytes && !deadline.passed() && next()) {
    const std::vector<OpCost> costs = function_costs(f, block);
    if (out.ops.empty()) {
      out.ops = costs;
      for (OpCost& cost : out.ops) cost.nanoseconds_per_row = 0;
    }
    for (size_t i = 0; i < costs.size(); ++i)
      out.ops[i].nanoseconds_per_row +=
          costs[i].nanoseconds_per_row * static_cast<double>(block.rows);
    out.rows += block.rows;
    bytes += block.payload_bytes();
    most = block.payload_bytes() / std::max<int64_t>(block.rows, 1) < 4096 ? 2048 : 16;
  }
  for (OpCost& cost : out.ops) {
    cost.nanoseconds_per_row /= static_cast<double>(std::max<int64_t>(out.rows, 1));
    out.nanoseconds_per_row += cost.nanoseconds_per_row;
  }
  return out;
}

// Turns a dataset of a nested pipeline into one of the whole pipeline, by adding the stages around
// it.
using Around = std::function<PlanPtr(const PlanPtr& nested)>;

// Returns the pipeline that a function returns; null if it returns anything else.
PlanPtr nested_of(const Function& f) {
  if (f.results.size() != 1) return nullptr;
  const FunctionNode* node = f.producer(f.results[0]);
  return node && node->kind == FunctionNode::Kind::dataset ? node->dataset : nullptr;
}

// Returns the function with its pipeline replaced by another one of the same environment.
FunctionPtr with_nested(const Function& f, const PlanPtr& nested) {
  auto out = std::make_shared<Function>(f);
  const LeafSpec type = LeafSpec::dataset(nested->spec);
  for (FunctionNode& node : out->nodes) {
    if (node.outputs[0] == f.results[0]) node.dataset = nested;
  }
  out->values[static_cast<size_t>(f.results[0])].type = type;
  out->output = Spec::of(type);
  return out;
}

void measure_plan(const PlanPtr& plan, const std::string& within, const Around& around,
                  const RunOptions& options, RunObserver* observer,
                  std::vector<FunctionReport>* out) {
  for (const PlanNode* node : topological(*plan)) {
    for (const auto& [name, f] : node->functions) {
      const bool of_element = node->inputs.size() == 1 && node->op->function_arity == 1 &&
                              !f->nodes.empty() && f->input == node->inputs[0]->spec;
      if (!of_element) continue;
      const std::string stage = within + node->op->name;
      if (f->captures.empty())
        out->push_back(measure(around(node->inputs[0]), stage, name, *f, options, observer));
      const PlanPtr nested = nested_of(*f);
      if (!nested) continue;
      const auto outside = [&around, node, &f](const PlanPtr& inner) {
        return around(
            make_node("flat_map", {node->inputs[0]}, {}, {{"f", with_nested(*f, inner)}}));
      };
      measure_plan(nested, stage + " > ", outside, options, observer, out);
    }
  }
}

}  // namespace

std::vector<FunctionReport> measure_functions(const PlanPtr& plan, const RunOptions& options,
                                              RunObserver* observer) {
  std::vector<FunctionReport> out;
  measure_plan(plan, "", [](const PlanPtr& nested) { return nested; }, options, observer, &out);
  return out;
}

}  // namespace penstock
