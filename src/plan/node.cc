#include "plan/node.h"

#include <algorithm>
#include <unordered_set>

#include "plan/canonical.h"

namespace penstock {
namespace {

void visit(const PlanNode& node, std::unordered_set<const PlanNode*>* seen,
           std::vector<const PlanNode*>* out) {
  // Chains may be thousands of stages long: no recursion down the first input.
  std::vector<std::pair<const PlanNode*, size_t>> stack{{&node, 0}};
  if (!seen->insert(&node).second) return;
  while (!stack.empty()) {
    auto& [top, next] = stack.back();
    if (next < top->inputs.size()) {
      const PlanNode* child = top->inputs[next++].get();
      if (seen->insert(child).second) stack.emplace_back(child, 0);
    } else {
      out->push_back(top);
      stack.pop_back();
    }
  }
}

// Chains may be thousands of stages long: no recursion down the inputs here either.
void release(const PlanNode* node) {
  static thread_local std::vector<PlanPtr>* inputs = nullptr;  // of nodes that are gone
  auto* const last_use = const_cast<PlanNode*>(node);
  if (inputs) {
    std::ranges::move(last_use->inputs, std::back_inserter(*inputs));
    delete last_use;
    return;
  }
  std::vector<PlanPtr> pending = std::move(last_use->inputs);
  inputs = &pending;
  delete last_use;
  while (!pending.empty()) {
    PlanPtr next = std::move(pending.back());
    pending.pop_back();
    next.reset();
  }
  inputs = nullptr;
}

}  // namespace

const FunctionPtr& PlanNode::function(std::string_view name) const {
  for (const auto& [key, f] : functions) {
    if (key == name) return f;
  }
  static const FunctionPtr none;
  return none;
}

bool PlanNode::is(std::string_view name) const { return op->name == name; }

int64_t NodeDraft::int_at_least(std::string_view param, int64_t least, std::string_view rule,
                                int64_t when_unknown) const {
  const Attr& value = node.args[param];
  if (value.is_capture()) return when_unknown;
  const int64_t n = value.as_int();
  if (n < least) fail(std::string(param), std::string(rule) + ": " + std::to_string(n));
  return n;
}

OperatorRegistry& OperatorRegistry::instance() {
  static auto* registry = new OperatorRegistry;
  return *registry;
}

void OperatorRegistry::add(OperatorDef op) {
  PENSTOCK_CHECK(find(op.name) == nullptr);
  ops_.push_back(std::make_unique<OperatorDef>(std::move(op)));
}

const OperatorDef* OperatorRegistry::find(std::string_view name) const {
  for (const auto& op : ops_) {
    if (op->name == name) return op.get();
  }
  return nullptr;
}

std::vector<const OperatorDef*> OperatorRegistry::all() const {
  std::vector<const OperatorDef*> out;
  for (const auto& op : ops_) out.push_back(op.get());
  std::ranges::sort(out, {}, &OperatorDef::name);
  return out;
}

PlanPtr make_node(const OperatorDef& op, std::vector<PlanPtr> inputs, Attrs args,
                  std::vector<std::pair<std::string, FunctionPtr>> functions, Span span) {
  NodeDraft draft;
  draft.node.op = &op;
  draft.node.inputs = std::move(inputs);
  draft.node.functions = std::move(functions);
  draft.node.span = span;
  for (const Param& param : op.params) {
    if (param.kind == Param::Kind::dataset || param.kind == Param::Kind::function) continue;
    const Attr* given = args.find(param.name);
    draft.node.args.set(param.name, given ? *given : param.fallback);
  }
  if (const Attr* structure = args.find("structure")) draft.node.args.set("structure", *structure);
  op.infer(draft);
  return PlanPtr(new PlanNode(std::move(draft.node)), release);
}

PlanPtr make_node(std::string_view op, std::vector<PlanPtr> inputs, Attrs args,
                  std::vector<std::pair<std::string, FunctionPtr>> functions, Span span) {
  const OperatorDef* def = OperatorRegistry::instance().find(op);
  PENSTOCK_CHECK(def != nullptr);
  return make_node(*def, std::move(inputs), std::move(args), std::move(functions), span);
}

PlanPtr with_inputs(const PlanNode& node, std::vector<PlanPtr> inputs) {
  return make_node(*node.op, std::move(inputs), node.args, node.functions, node.span);
}

PlanPtr with_arg(const PlanNode& node, std::string_view name, Attr value) {
  Attrs args = node.args;
  args.set(std::string(name), std::move(value));
  return make_node(*node.op, node.inputs, std::move(args), node.functions, node.span);
}

std::vector<const PlanNode*> topological(const PlanNode& root) {
  std::vector<const PlanNode*> out;
  std::unordered_set<const PlanNode*> seen;
  visit(root, &seen, &out);
  return out;
}

Effects plan_effects(const PlanNode& plan) {
  Effects out = Effects::pure;
  for (const PlanNode* node : topological(plan)) {
    if (node->op->random) out = std::max(out, Effects::random);
    for (const auto& [name, f] : node->functions) out = std::max(out, f->effects());
  }
  return out;
}

bool plan_is_random(const PlanNode& root) { return plan_effects(root) != Effects::pure; }

bool same_plan(const PlanNode& a, const PlanNode& b) { return &a == &b || equivalent(a, b); }

}  // namespace penstock
