#include "datasets/inner_template.h"

#include <algorithm>

namespace penstock {
namespace {

// The function with what the stages capture as inputs behind its own, given on as results behind
// its own where `keeps_captured`: captures differ from row to row here.
FunctionPtr with_captured(const Function& f, const std::vector<LeafSpec>& types,
                          const std::vector<int>& captured, bool keeps_captured) {
  const int inputs = f.input_count(), captures = static_cast<int>(f.captures.size());
  const auto size = static_cast<int>(captured.size());
  auto moved = [&](ValueId id) {
    if (id < inputs) return id;
    if (id >= inputs + captures) return id + size - captures;
    const int source = f.capture_sources[static_cast<size_t>(id - inputs)];
    return inputs + static_cast<int>(std::ranges::find(captured, source) - captured.begin());
  };
  auto move_all = [&](std::vector<ValueId>* ids) {
    for (ValueId& id : *ids) id = moved(id);
  };
  auto out = std::make_shared<Function>(f);
  std::vector<Spec> leaves;
  for (const LeafSpec& leaf : types) leaves.push_back(Spec::of(leaf));
  const Spec values = Spec::tuple(std::move(leaves));
  out->input = Spec::tuple({f.input, values});
  out->captures.clear();
  out->capture_sources.clear();
  const auto at = static_cast<std::ptrdiff_t>(inputs);
  out->values.erase(out->values.begin() + at, out->values.begin() + at + captures);
  std::vector<FunctionValue> added;
  for (const LeafSpec& leaf : types) added.push_back({leaf, ""});
  out->values.insert(out->values.begin() + at, added.begin(), added.end());
  for (FunctionNode& node : out->nodes) {
    move_all(&node.inputs);
    move_all(&node.outputs);
  }
  move_all(&out->results);
  if (keeps_captured) {
    for (int i = 0; i < size; ++i) out->results.push_back(inputs + i);
    out->output = Spec::tuple({f.output, values});
  }
  return out;
}

// f with the values `ids` as its results, and without what they do not need.
FunctionPtr with_results(const Function& f, const std::vector<ValueId>& ids) {
  auto out = std::make_shared<Function>(f);
  std::vector<Spec> leaves;
  for (const ValueId id : ids) leaves.push_back(Spec::of(f.type(id)));
  out->output = Spec::tuple(std::move(leaves));
  out->results = ids;
  std::vector<bool> needed(f.values.size(), false);
  for (const ValueId id : ids) needed[static_cast<size_t>(id)] = true;
  std::vector<FunctionNode> nodes;
  for (auto node = f.nodes.rbegin(); node != f.nodes.rend(); ++node) {
    const bool used = std::ranges::any_of(
        node->outputs, [&](ValueId id) { return needed[static_cast<size_t>(id)]; });
    if (!used) continue;
    for (const ValueId id : node->inputs) needed[static_cast<size_t>(id)] = true;
    nodes.insert(nodes.begin(), *node);
  }
  out->nodes = std::move(nodes);
  return out;
}

void add_stages(const std::vector<PlanPtr>& nodes, const std::vector<LeafSpec>& environment,
                const OpenContext& context, InnerTemplate* out) {
  for (const PlanPtr& node : nodes) {
    for (const int source : node->functions.front().second->capture_sources) {
      if (std::ranges::find(out->captured, source) == out->captured.end())
        out->captured.push_back(source);
    }
  }
  std::vector<LeafSpec> types;
  for (const int source : out->captured) types.push_back(environment[static_cast<size_t>(source)]);
  std::vector<Chain::Stage> stages;
  for (const PlanPtr& node : nodes) {
    Chain::Stage stage;
    stage.filter = node->op->chain == ChainRole::filter;
    stage.name = node->op->name;
    stage.counters = context.run->counters(node.get());
    stage.function = std::make_shared<const CompiledFunction>(
        with_captured(*node->functions.front().second, types, out->captured, !stage.filter),
        std::span<const Tensor>(), context.run->reads(node.get()));
    stages.push_back(std::move(stage));
  }
  if (!stages.empty()) out->stages = std::make_unique<const Chain>(std::move(stages));
}

}  // namespace

std::unique_ptr<const InnerTemplate> inner_template(const PlanPtr& node,
                                                    const OpenContext& context) {
  const Function& f = *node->function("f");
  auto out = std::make_unique<InnerTemplate>();
  std::vector<ValueId> ids{f.results[0]};
  const FunctionNode* made = f.producer(f.results[0]);
  std::vector<PlanPtr> stages;
  if (!made) {
    out->rows_at = 0;  // w -> w
    out->leaves = f.type(ids[0]).element->leaves();
  } else if (made->kind != FunctionNode::Kind::dataset) {
    return nullptr;
  } else {
    out->plan = made->dataset;
    ids = made->inputs;
    PlanPtr at = out->plan;
    if (const auto batch = at->op->plain_batch ? at->op->plain_batch(*at) : std::nullopt) {
      out->batch = at;
      out->batch_size = batch->size;
      out->drop_remainder = batch->drop_remainder;
      at = at->inputs[0];
    }
    out->leaves = at->spec.leaves();
    for (; at->op->chain != ChainRole::none; at = at->inputs[0]) {
      if (at->op->chain == ChainRole::filter && out->batch_size > 0) return nullptr;
      stages.insert(stages.begin(), at);
    }
    if (at->op->counts_up && at->op->counts_up(*at)) {
      out->range = at;
    } else if (!at->op->stands_for.empty()) {
      out->rows_at = at->arg(at->op->stands_for).capture_index();
    } else {
      return nullptr;
    }
  }
  if (f.effects() == Effects::stateful ||
      (out->plan && plan_effects(*out->plan) == Effects::stateful))
    return nullptr;
  out->columns = out->leaves.size();
  std::vector<LeafSpec> environment;
  for (const ValueId id : ids) environment.push_back(f.type(id));
  out->environment = std::make_shared<const CompiledFunction>(
      with_results(f, ids), context.environment, context.run->reads(node.get()));
  add_stages(stages, environment, context, out.get());
  return out;
}

}  // namespace penstock
