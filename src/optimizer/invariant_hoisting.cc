// invariant_hoisting: what the body of a loop (map_fn, while_loop, reduce, scan) computes of values
// from around it alone is computed once, before the loop. Only what is pure and cannot fail: a loop
// may run no round at all.

#include <algorithm>
#include <map>

#include "optimizer/rule.h"

namespace penstock {
namespace {

constexpr RuleCondition kInvariantHoistingConditions[] = {
    {"cannot_fail", "it cannot fail: a loop may run no round at all",
     "range(3) | map(x -> map_fn(arange(x), y -> y + 7 // x))"},
    {"pure", "it draws nothing and has no effects",
     "range(3) | map(x -> [x, x]) | map(x -> map_fn(arange(4), y -> shuffle(x, seed=3)))"},
};

bool may_move(const FunctionNode& node, RuleSite& site) {
  const bool is_pure = node.op->effects == Effects::pure;
  if (!is_pure)
    site.stop("pure");
  else if (node.op->can_fail)
    site.stop("cannot_fail");
  return is_pure && !node.op->can_fail;
}

// One body with its invariant nodes moved to `around`, whose values they take from `inputs`, the
// loop's inputs; new ones are added there. Sets `moved` when there was one.
FunctionPtr hoisted(const Function& body, FunctionBuilder* around, std::vector<ValueId>* inputs,
                    bool* moved, RuleSite& site) {
  std::map<ValueId, size_t> source;  // of the new body's captures: which of `inputs`
  for (size_t i = 0; i < body.captures.size(); ++i) {
    source[body.input_count() + static_cast<ValueId>(i)] =
        static_cast<size_t>(body.capture_sources[i]);
  }
  return rebuild(body, [&](const FunctionNode& node, const std::vector<ValueId>& in,
                           FunctionBuilder* b, std::vector<ValueId>* outputs) {
    bool captures = false;
    const bool invariant = std::ranges::all_of(in, [&](ValueId id) {
      captures |= source.contains(id);
      return source.contains(id) || b->constant(id) != nullptr;
    });
    const bool plain = node.kind == FunctionNode::Kind::op && node.bodies.empty();
    if (!plain || !invariant || !captures || !may_move(node, site)) return false;
    std::vector<ValueId> outer, made;
    for (const ValueId id : in) {
      outer.push_back(source.contains(id) ? (*inputs)[source[id]]
                                          : around->add_constant(*b->constant(id)));
    }
    around->add_op(*node.op, outer, node.attrs, &made);
    for (size_t i = 0; i < made.size(); ++i) {
      const std::string& name = body.values[static_cast<size_t>(node.outputs[i])].name;
      // Among the captures: what the state or an item begins with may be the same value.
      const auto captured = inputs->begin() + body.input_count();
      const auto at =
          static_cast<size_t>(std::find(captured, inputs->end(), made[i]) - inputs->begin());
      if (at == inputs->size()) inputs->push_back(made[i]);
      const ValueId capture = b->add_capture(around->type(made[i]), static_cast<int>(at), name);
      source[capture] = at;
      outputs->push_back(capture);
    }
    *moved = true;
    return true;
  });
}

// The function with what its loops need not compute in each round before them; null when there is
// nothing.
FunctionPtr with_lighter_loops(const Function& f, RuleSite& site) {
  const auto has_body = [](const FunctionNode& n) {
    return n.kind == FunctionNode::Kind::op && !n.bodies.empty();
  };
  if (std::ranges::none_of(f.nodes, has_body)) return nullptr;
  bool changed = false;
  FunctionPtr out = rebuild(f, [&](const FunctionNode& n, const std::vector<ValueId>& inputs,
                                   FunctionBuilder* b, std::vector<ValueId>* outputs) {
    if (!has_body(n)) return false;
    std::vector<ValueId> now = inputs;
    std::vector<FunctionPtr> bodies;
    bool moved = false;
    for (const FunctionPtr& body : n.bodies)
      bodies.push_back(hoisted(*body, b, &now, &moved, site));
    if (!moved) return false;
    b->add_op(*n.op, std::move(now), n.attrs, outputs, std::move(bodies));
    changed = true;
    return true;
  });
  return changed ? out : nullptr;
}

// Of any stage with functions.
PlanPtr apply(const PlanPtr& node, RuleSite& site) {
  auto functions = node->functions;
  bool changed = false;
  for (auto& [name, f] : functions) {
    if (FunctionPtr lighter = with_lighter_loops(*f, site)) {
      f = std::move(lighter);
      changed = true;
    }
  }
  if (!changed) return nullptr;
  return make_node(node->op->name, node->inputs, node->args, std::move(functions), node->span);
}

}  // namespace

const Rule kInvariantHoisting{
    "invariant_hoisting", "values the same in each round are made before the loop",
    "range(3) | map(x -> map_fn(arange(4), y -> y + x * x))", apply, kInvariantHoistingConditions};

}  // namespace penstock
