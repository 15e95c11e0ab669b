#include "optimizer/knobs.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "optimizer/optimize.h"

namespace penstock {
namespace {

// The plan rebuilt from its sources; `change` gives what stands for a node with its new inputs.
PlanPtr rebuild_plan(const PlanPtr& root,
                     const std::function<PlanPtr(const PlanNode& old, PlanPtr now)>& change) {
  std::unordered_map<const PlanNode*, PlanPtr> done;
  for (const PlanNode* node : topological(*root)) {
    std::vector<PlanPtr> inputs;
    for (const PlanPtr& input : node->inputs) inputs.push_back(done[input.get()]);
    done[node] = change(*node, with_inputs(*node, std::move(inputs)));
  }
  return done[root.get()];
}

}  // namespace

PlanPtr strip_knobs(const PlanPtr& plan) {
  return rebuild_plan(plan, [](const PlanNode&, PlanPtr now) {
    if (now->is("prefetch")) return now->inputs[0];
    for (const Param& p : now->op->params) {
      if (p.performance && !now->arg(p.name).is_auto())
        now = with_arg(*now, p.name, Attr::automatic());
    }
    return now;
  });
}

PlanPtr write_knobs(const PlanPtr& plan, const Analysis& analysis, int cores) {
  // Below this share of the whole a stage is not worth handing blocks to other threads.
  constexpr double kWorthThreads = 0.05;
  const double whole = std::max(1e-12, analysis.demand_seconds);
  // Nor is a pipeline whose blocks cost less than it takes to wake a thread for them.
  constexpr double kBlockRows = 4096, kBlockSeconds = 30e-6;
  // Stages of the trace in the order of the plan: users before inputs, as they were numbered.
  std::unordered_map<const PlanNode*, const StageModel*> model;
  std::vector<std::pair<const PlanNode*, int>> open{{plan.get(), 0}};
  while (!open.empty()) {
    const auto [node, id] = open.back();
    open.pop_back();
    if (id < 0 || static_cast<size_t>(id) >= analysis.stages.size()) continue;
    model[node] = &analysis.stages[static_cast<size_t>(id)];
    const StageTrace& s = analysis.trace.stages[static_cast<size_t>(id)];
    for (size_t i = 0; i < node->inputs.size() && i < s.inputs.size(); ++i)
      open.emplace_back(node->inputs[i].get(), s.inputs[i]);
  }
  bool any = false;
  PlanPtr out = rebuild_plan(plan, [&](const PlanNode& old, PlanPtr now) {
    if (!now->is("map") || !model.contains(&old) || cores < 2) return now;
    const double share = model[&old]->demand_seconds / whole;
    const Effects effects = now->function("f")->effects();
    if (share < kWorthThreads || effects == Effects::stateful) return now;
    if (whole * kBlockRows < kBlockSeconds * model[&old]->visit_ratio) return now;
    any = true;
    return with_arg(*now, "num_parallel_calls", Attr::integer(cores));
  });
  if (!any) return plan;
  if (!out->op->sink && !out->is("prefetch")) {
    Attrs args;
    args.set("buffer_size", Attr::integer(2));
    out = make_node("prefetch", {out}, std::move(args), {}, out->span);
  }
  return out;
}

}  // namespace penstock
