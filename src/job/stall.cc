#include "job/stall.h"

#include <algorithm>
#include <vector>

#include "trace/placed_nodes.h"

namespace penstock {
namespace {

bool reads_files(const Function& function);

bool reads_itself(const PlanNode& node) {
  if (!node.op->files_param.empty() && !node.op->lists_files) return true;
  return std::ranges::any_of(node.functions, [](const auto& f) { return reads_files(*f.second); });
}

bool reads_below(const PlanNode& root) {
  return std::ranges::any_of(topological(root), [](const PlanNode* n) { return reads_itself(*n); });
}

bool reads_files(const Function& function) {
  for (const FunctionNode& node : function.nodes) {
    if (node.op && node.op->reads_files) return true;
    if (node.dataset && reads_below(*node.dataset)) return true;
    if (std::ranges::any_of(node.bodies, [](const FunctionPtr& f) { return reads_files(*f); }))
      return true;
  }
  return false;
}

}  // namespace

double Stall::waiting_share() const {
  return whole() > 0 ? std::clamp((storage.value + work.value) / whole(), 0.0, 1.0) : 0;
}

Stall measure_stall(const SampleSteps& sample, double seconds) {
  Stall out;
  std::vector<double> storage, work, consumer;
  double used = 0;
  while (out.rounds < Stall::kMostRounds && (out.rounds < Stall::kLeastRounds || used < seconds)) {
    double step[kStallRuns];
    for (int i = 0; i < kStallRuns; ++i) {
      const int kind = (i + out.rounds) % kStallRuns;
      const StepSample got = sample(static_cast<StallRun>(kind));
      step[kind] = got.step_seconds;
      used += got.seconds;
    }
    storage.push_back(step[0] - step[1]);
    work.push_back(step[1] - step[2]);
    consumer.push_back(step[2]);
    for (int i = 0; i < kStallRuns; ++i) out.step_seconds[i] += step[i];
    ++out.rounds;
  }
  for (double& mean : out.step_seconds) mean /= out.rounds;
  out.storage = mean_of(storage);
  out.work = mean_of(work);
  out.consumer = mean_of(consumer);
  return out;
}

PlanPtr one_element_again(const PlanPtr& plan) {
  Attrs one;
  one.set("count", Attr::integer(1));
  return make_node("repeat", {make_node("cache", {make_node("take", {plan}, one)}, {})}, {});
}

const PlanNode* reading_part(const PlanNode& plan) {
  const PlanNode* at = &plan;
  while (!reads_itself(*at)) {
    if (at->inputs.size() != 1) return nullptr;
    at = at->inputs[0].get();
  }
  return at->op->chain == ChainRole::none ? at : nullptr;
}

}  // namespace penstock
