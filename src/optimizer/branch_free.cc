// branch_free: `if` between small numbers becomes where(): both sides are computed, op by op over
// the rows of a block. A function with an `if` runs row by row, which takes a hundred times as
// long. `and` and `or` are such an `if` where their second operand can fail.

#include <algorithm>
#include <optional>

#include "optimizer/rule.h"

namespace penstock {
namespace {

constexpr RuleCondition kBranchFreeConditions[] = {
    {"cannot_fail", "both sides cannot fail; a division by a constant cannot, unless that is 0",
     "range(9) | map(x -> if x > 3 then 7 // x else x)"},
    {"small_numbers",
     "all that the sides compute are pure operations on numbers, with shapes that are known and "
     "small",
     "range(9) | map(x -> size(if x > 3 then as_string(x) else \"\"))"},
};

constexpr int64_t kMostEntries = 64;  // of a value
constexpr size_t kMostNodes = 32;     // of a side

bool is_small_number(const LeafSpec& type) {
  if (!type.is_tensor() || !(is_number(type.dtype) || type.dtype == DType::boolean)) return false;
  return type.shape.is_static() && type.shape.dims().entries() <= kMostEntries;
}

// A division by a constant: it fails where that has a 0 only.
bool divides_by_constant(const Function& f, const FunctionNode& node) {
  if (!node.is("floor_divide") && !node.is("modulo")) return false;
  const FunctionNode* const divisor = f.producer(node.inputs[1]);
  if (!divisor || divisor->kind != FunctionNode::Kind::constant) return false;
  const Tensor& value = divisor->constant;
  if (value.dims().rank() != 0 || value.dtype() != DType::int64) return !is_integer(value.dtype());
  return value.entry<int64_t>() > 0;
}

// Null if the side may be computed for every row; else the condition that stops it.
const char* obstacle(const Function& side) {
  if (side.nodes.size() > kMostNodes) return "small_numbers";
  for (const FunctionNode& node : side.nodes) {
    const bool computes = node.kind == FunctionNode::Kind::constant ||
                          (node.kind == FunctionNode::Kind::op && node.bodies.empty() &&
                           node.op->effects == Effects::pure && node.op->block);
    const auto is_small = [&](ValueId id) { return is_small_number(side.type(id)); };
    if (!computes || !std::ranges::all_of(node.outputs, is_small)) return "small_numbers";
    if (node.op && node.op->can_fail && !divides_by_constant(side, node)) return "cannot_fail";
  }
  return nullptr;
}

const char* obstacle(const Function& f, const FunctionNode& branch) {
  for (const FunctionPtr& side : branch.bodies) {
    if (const char* found = obstacle(*side)) return found;
  }
  for (size_t i = 0; i < branch.outputs.size(); ++i) {
    const LeafSpec& type = f.type(branch.outputs[i]);
    for (const FunctionPtr& side : branch.bodies)
      if (!is_small_number(type) || !(side->type(side->results[i]) == type)) return "small_numbers";
  }
  return nullptr;
}

// The values of the side's results, made in `builder`; its captures are `environment`.
std::vector<ValueId> inlined(const Function& side, std::span<const ValueId> environment,
                             FunctionBuilder* builder) {
  std::vector<ValueId> values(side.values.size(), -1);
  for (size_t i = 0; i < side.captures.size(); ++i)
    values[i] = environment[static_cast<size_t>(side.capture_sources[i])];
  for (const FunctionNode& node : side.nodes) {
    std::vector<ValueId> inputs, outputs;
    for (const ValueId id : node.inputs) inputs.push_back(values[static_cast<size_t>(id)]);
    if (node.kind == FunctionNode::Kind::constant)
      outputs = {builder->add_constant(node.constant)};
    else
      builder->add_op(*node.op, inputs, node.attrs, &outputs);
    for (size_t i = 0; i < outputs.size(); ++i)
      values[static_cast<size_t>(node.outputs[i])] = outputs[i];
  }
  std::vector<ValueId> out;
  for (const ValueId id : side.results) out.push_back(values[static_cast<size_t>(id)]);
  return out;
}

// The function without any `if`; null if it has none, or one must stay: rows would be run one by
// one all the same.
FunctionPtr without_branches(const Function& f, RuleSite& site) {
  const auto is_branch = [](const FunctionNode& n) {
    return n.kind == FunctionNode::Kind::conditional;
  };
  if (std::ranges::none_of(f.nodes, is_branch)) return nullptr;
  for (const FunctionNode& node : f.nodes) {
    if (!is_branch(node)) continue;
    if (const char* found = obstacle(f, node)) {
      site.stop(found);
      return nullptr;
    }
  }
  return rebuild(f, [&](const FunctionNode& n, const std::vector<ValueId>& inputs,
                        FunctionBuilder* builder, std::vector<ValueId>* outputs) {
    if (!is_branch(n)) return false;
    const std::span<const ValueId> environment = std::span(inputs).subspan(1);
    const std::vector<ValueId> a = inlined(*n.bodies[0], environment, builder);
    const std::vector<ValueId> b = inlined(*n.bodies[1], environment, builder);
    for (size_t i = 0; i < a.size(); ++i) {
      std::vector<ValueId> made;
      builder->add_op(known_op("where"), {inputs[0], a[i], b[i]}, {}, &made);
      outputs->push_back(made[0]);
    }
    return true;
  });
}

// Stages that run one function over the rows of blocks.
PlanPtr apply(const PlanPtr& node, RuleSite& site) {
  if (node->op->chain == ChainRole::none) return nullptr;
  const auto& [name, f] = node->functions.front();
  FunctionPtr flat = without_branches(*f, site);
  if (!flat) return nullptr;
  return make_node(*node->op, node->inputs, node->args, {{name, std::move(flat)}}, node->span);
}

}  // namespace

const Rule kBranchFree{"branch_free", "an `if` between small numbers computes both sides",
                       "range(9) | map(x -> if x % 3 == 1 then x * 2 else x - 1)", apply,
                       kBranchFreeConditions};

}  // namespace penstock
