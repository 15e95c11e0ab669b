#include "optimizer/knobs.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "optimizer/optimize.h"

namespace penstock {
namespace {

// The plan from its sources on; `change` gives what stands for a node, which comes with its new
// inputs. Nodes that nothing has changed for stay as they are.
PlanPtr rebuild_plan(const PlanPtr& root,
                     const std::function<PlanPtr(const PlanNode& old, PlanPtr now)>& change) {
  const std::vector<const PlanNode*> nodes = topological(*root);
  std::unordered_map<const PlanNode*, PlanPtr> done{{root.get(), root}};
  for (const PlanNode* node : nodes) {
    for (const PlanPtr& input : node->inputs) done[input.get()] = input;
  }
  for (const PlanNode* node : nodes) {
    std::vector<PlanPtr> inputs;
    for (const PlanPtr& input : node->inputs) inputs.push_back(done.at(input.get()));
    PlanPtr& slot = done.at(node);
    slot = change(*node, inputs == node->inputs ? slot : with_inputs(*node, std::move(inputs)));
  }
  return done.at(root.get());
}

// Returns true if rows of the stage may be computed by several threads.
bool takes_calls(const PlanNode& node) {
  return node.op->chain == ChainRole::map && node.args.has("num_parallel_calls");
}

}  // namespace

PlanPtr strip_knobs(const PlanPtr& plan) {
  return rebuild_plan(plan, [](const PlanNode&, PlanPtr now) {
    if (now->op->reads_ahead) return now->inputs[0];
    for (const Param& p : now->op->params) {
      if (p.performance && p.fallback.is_auto() && !now->arg(p.name).is_auto())
        now = with_arg(*now, p.name, Attr::automatic());
    }
    return now;
  });
}

PlanPtr fill_knobs(const PlanPtr& plan, int threads, FilledNodes* filled) {
  // A hand-over to another thread costs some microseconds a block: rows must be worth it.
  constexpr double kWorthAHandOver = 2000;
  bool any = false;
  PlanPtr out = rebuild_plan(plan, [&](const PlanNode&, PlanPtr now) {
    if (!takes_calls(*now) || !now->arg("num_parallel_calls").is_auto()) return now;
    const Function& f = *now->functions.front().second;
    if (f.cost_ns() <= kWorthAHandOver || f.effects() == Effects::stateful) return now;
    any = true;
    PlanPtr made = with_arg(*now, "num_parallel_calls", Attr::integer(threads));
    if (filled) filled->push_back(made.get());
    return made;
  });
  if (any && !out->op->sink && !out->op->reads_ahead)
    out = make_node("prefetch", {out}, {}, {}, out->span);
  return out;
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
    if (!takes_calls(*now) || !model.contains(&old) || cores < 2) return now;
    const double share = model[&old]->demand_seconds / whole;
    const Effects effects = now->functions.front().second->effects();
    if (share < kWorthThreads || effects == Effects::stateful) return now;
    if (whole * kBlockRows < kBlockSeconds * model[&old]->visit_ratio) return now;
    any = true;
    return with_arg(*now, "num_parallel_calls", Attr::integer(cores));
  });
  if (!any) return plan;
  if (!out->op->sink && !out->op->reads_ahead)
    out = make_node("prefetch", {out}, {}, {}, out->span);
  return out;
}

}  // namespace penstock
