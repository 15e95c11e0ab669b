#include "functions/function.h"

#include <algorithm>

#include "data/leaf_of.h"
#include "data/ragged.h"
#include "functions/evaluate.h"
#include "functions/ragged_lift.h"

namespace penstock {
namespace {

constexpr int kInput = -1;
constexpr int kCapture = -2;

Effects stronger(Effects a, Effects b) { return std::max(a, b); }

// As far as the shape is known; unknown sizes count once.
double least_bytes(const LeafSpec& type) {
  if (!type.is_tensor() || !type.shape.has_rank()) return 0;
  auto bytes = static_cast<double>(dtype_size(type.dtype));
  for (const int64_t size : type.shape.sizes()) bytes *= static_cast<double>(size < 0 ? 1 : size);
  return bytes;
}

// Returns how much the op reads and writes.
double touched_bytes(const Function& f, const FunctionNode& node) {
  if (node.op->touches == Touches::nothing) return 0;
  double bytes = 0;
  for (const ValueId id : node.outputs) bytes += least_bytes(f.type(id));
  if (node.op->touches == Touches::outputs) return bytes;
  for (const ValueId id : node.inputs) bytes += least_bytes(f.type(id));
  return bytes;
}

}  // namespace

Effects Function::effects() const {
  Effects out = Effects::pure;
  for (const FunctionNode& node : nodes) {
    if (node.op) out = stronger(out, node.op->effects);
    for (const FunctionPtr& body : node.bodies) out = stronger(out, body->effects());
    if (node.dataset) out = stronger(out, plan_effects(*node.dataset));
  }
  return out;
}

bool Function::can_fail() const {
  return std::ranges::any_of(nodes, [](const FunctionNode& node) {
    return (node.op && node.op->can_fail) || node.dataset ||
           std::ranges::any_of(node.bodies,
                               [](const FunctionPtr& body) { return body->can_fail(); });
  });
}

double Function::cost_ns() const {
  constexpr double kNsPerByte = 0.1;  // of large rows: what memory takes
  double out = 0;
  for (const FunctionNode& node : nodes) {
    if (node.op) out += node.op->cost_ns + kNsPerByte * touched_bytes(*this, node);
    double bodies = 0;
    for (const FunctionPtr& body : node.bodies) bodies = std::max(bodies, body->cost_ns());
    out += bodies;
    if (node.dataset) out += 2000;
  }
  return out;
}

const FunctionNode* Function::producer(ValueId id) const {
  for (const FunctionNode& node : nodes) {
    if (std::ranges::find(node.outputs, id) != node.outputs.end()) return &node;
  }
  return nullptr;
}

bool Function::same(const Function& other) const {
  if (!(input == other.input) || !(captures == other.captures) ||
      capture_sources != other.capture_sources || !(output == other.output) ||
      results != other.results || nodes.size() != other.nodes.size() ||
      values.size() != other.values.size()) {
    return false;
  }
  for (size_t i = 0; i < nodes.size(); ++i) {
    const FunctionNode &a = nodes[i], &b = other.nodes[i];
    if (a.kind != b.kind || a.op != b.op || !(a.attrs == b.attrs) || a.inputs != b.inputs ||
        a.outputs != b.outputs || a.bodies.size() != b.bodies.size() || !a.dataset != !b.dataset) {
      return false;
    }
    if (a.kind == FunctionNode::Kind::constant && !a.constant.same(b.constant)) return false;
    for (size_t k = 0; k < a.bodies.size(); ++k) {
      if (!a.bodies[k]->same(*b.bodies[k])) return false;
    }
    if (a.dataset && !same_plan(*a.dataset, *b.dataset)) return false;
  }
  return true;
}

FunctionBuilder::FunctionBuilder(Spec input, int arity) : function_(std::make_shared<Function>()) {
  for (const LeafSpec& leaf : input.leaves()) {
    add_value(leaf);
    producer_.back() = kInput;
  }
  function_->input = std::move(input);
  function_->arity = arity;
}

ValueId FunctionBuilder::add_value(LeafSpec type) {
  values_.push_back({row_as_tensor(std::move(type)), {}});
  producer_.push_back(static_cast<int>(nodes_.size()));
  return static_cast<ValueId>(values_.size() - 1);
}

ValueId FunctionBuilder::add_capture(LeafSpec type, int source, std::string name) {
  for (size_t i = 0; i < capture_ids_.size(); ++i) {
    if (function_->capture_sources[i] == source) return capture_ids_[i];
  }
  type = row_as_tensor(std::move(type));
  function_->captures.push_back(type);
  function_->capture_sources.push_back(source);
  const ValueId id = add_value(std::move(type));
  producer_.back() = kCapture;
  values_.back().name = std::move(name);
  capture_ids_.push_back(id);
  return id;
}

ValueId FunctionBuilder::add_constant(Tensor value) {
  for (const FunctionNode& node : nodes_) {
    if (node.kind == FunctionNode::Kind::constant && node.constant.same(value))
      return node.outputs[0];
  }
  FunctionNode node;
  node.kind = FunctionNode::Kind::constant;
  const ValueId id = add_value(leaf_of(value));
  node.outputs = {id};
  node.constant = std::move(value);
  nodes_.push_back(std::move(node));
  return id;
}

const LeafSpec& FunctionBuilder::type(ValueId id) const {
  return values_[static_cast<size_t>(id)].type;
}

const Tensor* FunctionBuilder::constant(ValueId id) const {
  const int producer = producer_[static_cast<size_t>(id)];
  if (producer < 0) return nullptr;
  const FunctionNode& node = nodes_[static_cast<size_t>(producer)];
  return node.kind == FunctionNode::Kind::constant ? &node.constant : nullptr;
}

const FunctionNode* FunctionBuilder::producer(ValueId id) const {
  const int node = producer_[static_cast<size_t>(id)];
  return node < 0 ? nullptr : &nodes_[static_cast<size_t>(node)];
}

std::vector<int64_t> FunctionBuilder::partial_ints(ValueId id) const {
  std::vector<int64_t> out;
  if (const Tensor* value = constant(id)) {
    if (!is_integer(value->dtype()) || value->dims().rank() > 1) return out;
    for (int64_t i = 0; i < value->entries_count(); ++i)
      out.push_back(std::max<int64_t>(-1, integer_at(*value, i)));
    return out;
  }
  const FunctionNode* made = producer(id);
  if (!made || !made->op || !made->op->known_entries) return out;
  std::vector<KnownEntries> inputs;
  for (const ValueId input : made->inputs) inputs.push_back({type(input), partial_ints(input)});
  return made->op->known_entries(inputs);
}

void FunctionBuilder::name(ValueId id, std::string_view name) {
  std::string& slot = values_[static_cast<size_t>(id)].name;
  if (slot.empty()) slot = name;
}

const std::string& FunctionBuilder::name(ValueId id) const {
  return values_[static_cast<size_t>(id)].name;
}

Spec FunctionBuilder::add_op(const OpDef& op, std::vector<ValueId> inputs, Attrs given,
                             std::vector<ValueId>* outputs, std::vector<FunctionPtr> bodies) {
  if (lifts_over_ragged(*this, op, inputs))
    return add_over_ragged(this, op, inputs, given, outputs);
  Attrs attrs;  // in documented order, defaults filled in: equal calls have equal attributes
  for (const Param& p : op.params) {
    if (p.kind == Param::Kind::tensor || p.kind == Param::Kind::tensors ||
        p.kind == Param::Kind::function || p.kind == Param::Kind::structure)
      continue;
    const Attr* value = given.find(p.name);
    attrs.set(p.name, value ? *value : p.fallback);
  }
  std::vector<InferInput> types;
  bool all_constant = op.effects == Effects::pure && bodies.empty();
  for (const ValueId id : inputs) {
    const bool vector =
        type(id).is_tensor() && is_integer(type(id).dtype) && type(id).shape.rank() == 1;
    types.push_back({type(id), constant(id), {}});
    if (vector && !types.back().constant) types.back().partial = partial_ints(id);
    all_constant &= types.back().constant != nullptr;
  }
  Spec result = op.infer({types, attrs, bodies});
  outputs->clear();
  if (op.effects == Effects::pure && bodies.empty()) {  // an equal node gives equal values
    // It was made after its inputs, and values are numbered as they are made.
    const ValueId newest = inputs.empty() ? ValueId{-1} : *std::ranges::max_element(inputs);
    for (size_t i = nodes_.size(); i-- > 0;) {
      const FunctionNode& node = nodes_[i];
      if (!node.outputs.empty() && node.outputs[0] <= newest) break;
      if (node.op == &op && node.inputs == inputs && node.attrs == attrs) {
        *outputs = node.outputs;
        return result;
      }
    }
  }
  if (all_constant) {
    std::vector<Tensor> values;
    for (const InferInput& input : types) values.push_back(*input.constant);
    std::vector<Tensor> folded;
    if (evaluate_op(op, attrs, values, result, &folded)) {
      for (Tensor& value : folded) outputs->push_back(add_constant(std::move(value)));
      std::vector<LeafSpec> leaves = result.leaves();
      for (size_t i = 0; i < leaves.size(); ++i) leaves[i] = type((*outputs)[i]);
      return result.with_leaves(leaves);
    }
  }
  FunctionNode node;
  node.op = &op;
  node.attrs = std::move(attrs);
  node.inputs = std::move(inputs);
  node.bodies = std::move(bodies);
  std::vector<LeafSpec> leaves = result.leaves();
  for (LeafSpec& leaf : leaves) {
    node.outputs.push_back(add_value(leaf));
    leaf = type(node.outputs.back());
  }
  *outputs = node.outputs;
  nodes_.push_back(std::move(node));
  return result.with_leaves(leaves);
}

std::vector<ValueId> FunctionBuilder::add_conditional(ValueId condition, FunctionPtr then_body,
                                                      FunctionPtr else_body,
                                                      std::vector<ValueId> captured,
                                                      const std::vector<LeafSpec>& types) {
  FunctionNode node;
  node.kind = FunctionNode::Kind::conditional;
  node.inputs = {condition};
  node.inputs.insert(node.inputs.end(), captured.begin(), captured.end());
  node.bodies = {std::move(then_body), std::move(else_body)};
  for (const LeafSpec& leaf : types) node.outputs.push_back(add_value(leaf));
  nodes_.push_back(node);
  return node.outputs;
}

ValueId FunctionBuilder::add_dataset(PlanPtr dataset, std::vector<ValueId> environment,
                                     LeafSpec type) {
  FunctionNode node;
  node.kind = FunctionNode::Kind::dataset;
  node.inputs = std::move(environment);
  node.dataset = std::move(dataset);
  const ValueId id = add_value(std::move(type));
  node.outputs = {id};
  nodes_.push_back(std::move(node));
  return id;
}

FunctionPtr FunctionBuilder::finish(Spec output, std::vector<ValueId> results) {
  std::vector<bool> needed(values_.size(), false);
  for (const ValueId id : results) needed[static_cast<size_t>(id)] = true;
  std::vector<bool> keep(nodes_.size(), false);
  for (size_t i = nodes_.size(); i-- > 0;) {
    const FunctionNode& node = nodes_[i];
    keep[i] = std::ranges::any_of(node.outputs,
                                  [&](ValueId id) { return needed[static_cast<size_t>(id)]; });
    if (!keep[i]) continue;
    for (const ValueId id : node.inputs) needed[static_cast<size_t>(id)] = true;
  }
  // Renumber: inputs, captures, then node outputs.
  std::vector<ValueId> renumbered(values_.size(), -1);
  Function& f = *function_;
  auto place = [&](ValueId id) {
    renumbered[static_cast<size_t>(id)] = static_cast<ValueId>(f.values.size());
    f.values.push_back(values_[static_cast<size_t>(id)]);
  };
  for (int i = 0; i < f.input_count(); ++i) place(i);
  for (const ValueId id : capture_ids_) place(id);
  auto mapped = [&](std::vector<ValueId> ids) {
    for (ValueId& id : ids) id = renumbered[static_cast<size_t>(id)];
    return ids;
  };
  for (size_t i = 0; i < nodes_.size(); ++i) {
    if (!keep[i]) continue;
    for (const ValueId id : nodes_[i].outputs) place(id);
    FunctionNode node = std::move(nodes_[i]);
    node.inputs = mapped(std::move(node.inputs));
    node.outputs = mapped(std::move(node.outputs));
    f.nodes.push_back(std::move(node));
  }
  f.output = std::move(output);
  f.results = mapped(std::move(results));
  return std::move(function_);
}

namespace {

// Adds the nodes of `from` to `into`; `values` maps from's ids, inputs and captures already there.
void inline_nodes(const Function& from, FunctionBuilder* into, std::vector<ValueId>* values,
                  const ReplaceNode& replace = {}) {
  for (const FunctionNode& node : from.nodes) {
    std::vector<ValueId> inputs;
    for (const ValueId id : node.inputs) inputs.push_back((*values)[static_cast<size_t>(id)]);
    std::vector<ValueId> outputs;
    const bool replaced = replace && replace(node, inputs, into, &outputs);
    if (!replaced) switch (node.kind) {
        case FunctionNode::Kind::constant: outputs = {into->add_constant(node.constant)}; break;
        case FunctionNode::Kind::op:
          into->add_op(*node.op, inputs, node.attrs, &outputs, node.bodies);
          break;
        case FunctionNode::Kind::conditional: {
          std::vector<LeafSpec> types;
          for (const ValueId id : node.outputs) types.push_back(from.type(id));
          outputs = into->add_conditional(inputs[0], node.bodies[0], node.bodies[1],
                                          {inputs.begin() + 1, inputs.end()}, types);
          break;
        }
        case FunctionNode::Kind::dataset:
          outputs = {into->add_dataset(node.dataset, inputs, from.type(node.outputs[0]))};
          break;
      }
    for (size_t i = 0; i < outputs.size(); ++i) {
      (*values)[static_cast<size_t>(node.outputs[i])] = outputs[i];
      into->name(outputs[i], from.values[static_cast<size_t>(node.outputs[i])].name);
    }
  }
}

std::vector<ValueId> start_values(const Function& from, FunctionBuilder* into) {
  std::vector<ValueId> values(from.values.size(), -1);
  for (int i = 0; i < from.input_count(); ++i) {
    values[static_cast<size_t>(i)] = i;
    into->name(i, from.values[static_cast<size_t>(i)].name);
  }
  for (size_t i = 0; i < from.captures.size(); ++i) {
    const size_t id = static_cast<size_t>(from.input_count()) + i;
    values[id] = into->add_capture(from.captures[i], from.capture_sources[i], from.values[id].name);
  }
  return values;
}

}  // namespace

FunctionPtr keep_results(const Function& function, const Spec& output,
                         const std::vector<int>& leaves) {
  FunctionBuilder builder(function.input, function.arity);
  std::vector<ValueId> values = start_values(function, &builder);
  inline_nodes(function, &builder, &values);
  std::vector<ValueId> results;
  for (const int leaf : leaves) {
    results.push_back(values[static_cast<size_t>(function.results[static_cast<size_t>(leaf)])]);
  }
  return builder.finish(output, std::move(results));
}

FunctionPtr compose(const Function& a, const Function& b) {
  FunctionBuilder builder(a.input, a.arity);
  std::vector<ValueId> values = start_values(a, &builder);
  inline_nodes(a, &builder, &values);
  std::vector<ValueId> second(b.values.size(), -1);
  for (size_t i = 0; i < a.results.size(); ++i) {
    second[i] = values[static_cast<size_t>(a.results[i])];
    builder.name(second[i], b.values[i].name);
  }
  for (size_t i = 0; i < b.captures.size(); ++i) {
    const size_t id = static_cast<size_t>(b.input_count()) + i;
    second[id] = builder.add_capture(b.captures[i], b.capture_sources[i], b.values[id].name);
  }
  inline_nodes(b, &builder, &second);
  std::vector<ValueId> results;
  for (const ValueId id : b.results) results.push_back(second[static_cast<size_t>(id)]);
  return builder.finish(b.output, std::move(results));
}

FunctionPtr narrow_input(const Function& function, const Spec& narrow,
                         const std::vector<int>& kept) {
  FunctionBuilder builder(narrow, 1);
  std::vector<ValueId> values(function.values.size(), -1);
  for (size_t i = 0; i < kept.size(); ++i) {
    values[static_cast<size_t>(kept[i])] = static_cast<ValueId>(i);
    builder.name(static_cast<ValueId>(i), function.values[static_cast<size_t>(kept[i])].name);
  }
  for (size_t i = 0; i < function.captures.size(); ++i) {
    const size_t id = static_cast<size_t>(function.input_count()) + i;
    values[id] = builder.add_capture(function.captures[i], function.capture_sources[i],
                                     function.values[id].name);
  }
  inline_nodes(function, &builder, &values);
  std::vector<ValueId> results;
  for (const ValueId id : function.results) results.push_back(values[static_cast<size_t>(id)]);
  return builder.finish(function.output, std::move(results));
}

std::vector<bool> used_inputs(const Function& function) {
  std::vector<bool> used(static_cast<size_t>(function.input_count()), false);
  auto mark = [&](ValueId id) {
    if (id < function.input_count()) used[static_cast<size_t>(id)] = true;
  };
  for (const FunctionNode& node : function.nodes) std::ranges::for_each(node.inputs, mark);
  std::ranges::for_each(function.results, mark);
  return used;
}

FunctionPtr rebuild(const Function& function, const ReplaceNode& replace) {
  FunctionBuilder builder(function.input, function.arity);
  std::vector<ValueId> values = start_values(function, &builder);
  inline_nodes(function, &builder, &values, replace);
  std::vector<ValueId> results;
  std::vector<LeafSpec> leaves;
  for (const ValueId id : function.results) {
    results.push_back(values[static_cast<size_t>(id)]);
    leaves.push_back(builder.type(results.back()));
  }
  return builder.finish(function.output.with_leaves(leaves), std::move(results));
}

bool is_identity(const Function& function) {
  if (!(function.input == function.output) || !function.captures.empty()) return false;
  for (size_t i = 0; i < function.results.size(); ++i) {
    if (function.results[i] != static_cast<ValueId>(i)) return false;
  }
  return true;
}

}  // namespace penstock
