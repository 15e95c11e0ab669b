// A user function as a typed dataflow graph over tensors. Structures exist only at its borders.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "functions/op.h"

namespace penstock {

struct PlanNode;  // plan/node.h
using PlanPtr = std::shared_ptr<const PlanNode>;
using ValueId = int32_t;

// One value: what it is, and what the author called it (a hint for printing, may be empty).
struct FunctionValue {
  LeafSpec type;
  std::string name;
};

// Besides registered ops there are three kinds of node of the graph's own.
struct FunctionNode {
  enum class Kind : uint8_t {
    op,
    constant,     // `constant`
    conditional,  // inputs: the condition, then what both bodies capture; bodies: then, else
    dataset,      // `dataset` is a template; inputs are its environment
  };
  Kind kind = Kind::op;
  const OpDef* op = nullptr;
  Attrs attrs;
  std::vector<ValueId> inputs;
  std::vector<ValueId> outputs;
  std::vector<FunctionPtr> bodies;
  PlanPtr dataset;
  Tensor constant;

  bool is(std::string_view name) const { return kind == Kind::op && op->name == name; }
};

// Immutable. Values are numbered: leaves of `input`, captures, then outputs of nodes in order.
class Function {
 public:
  Spec input;                      // one element (or a tuple of several arguments)
  std::vector<LeafSpec> captures;  // values from around it, bound when it is opened
  // Where each capture comes from in the environment of the pipeline it stands in.
  std::vector<int> capture_sources;
  std::vector<FunctionValue> values;
  std::vector<FunctionNode> nodes;  // topological order
  Spec output;
  std::vector<ValueId> results;  // one for each leaf of output
  int arity = 1;                 // how many parameters the lambda was written with

  int input_count() const { return input.leaf_count(); }
  const LeafSpec& type(ValueId id) const { return values[static_cast<size_t>(id)].type; }
  Effects effects() const;  // the strongest of its nodes, bodies and nested pipelines included
  bool can_fail() const;
  double cost_ns() const;  // rough, from the ops' declared costs
  // The node that makes the value; null for inputs and captures.
  const FunctionNode* producer(ValueId id) const;
  // Equal in everything but names.
  bool same(const Function& other) const;
};

// Makes a function node by node: infers types, folds constants, shares equal pure nodes.
class FunctionBuilder {
 public:
  explicit FunctionBuilder(Spec input, int arity = 1);

  const Spec& input() const { return function_->input; }
  ValueId input_value(int leaf) const { return leaf; }
  // A value from outside; `source` is its index in the environment. Asking twice gives one value.
  ValueId add_capture(LeafSpec type, int source, std::string name);
  ValueId add_constant(Tensor value);
  // Throws TypeError. The result's leaves are the values of the output structure in order.
  Spec add_op(const OpDef& op, std::vector<ValueId> inputs, Attrs attrs,
              std::vector<ValueId>* outputs, std::vector<FunctionPtr> bodies = {});
  std::vector<ValueId> add_conditional(ValueId condition, FunctionPtr then_body,
                                       FunctionPtr else_body, std::vector<ValueId> captured,
                                       const std::vector<LeafSpec>& types);
  ValueId add_dataset(PlanPtr dataset, std::vector<ValueId> environment, LeafSpec type);

  const LeafSpec& type(ValueId id) const;
  const Tensor* constant(ValueId id) const;        // null when not known at build
  const FunctionNode* producer(ValueId id) const;  // null for inputs and captures
  // The known entries of a vector of integers made of parts (a list, a shape), -1 for the others.
  std::vector<int64_t> partial_ints(ValueId id) const;
  void name(ValueId id, std::string_view name);
  const std::string& name(ValueId id) const;
  // Ends the building: drops nodes that no result needs.
  FunctionPtr finish(Spec output, std::vector<ValueId> results);

 private:
  ValueId add_value(LeafSpec type);
  std::shared_ptr<Function> function_;
  std::vector<FunctionNode> nodes_;
  std::vector<int> producer_;  // node of each value, -1 for inputs, -2 for captures
  std::vector<FunctionValue> values_;
  std::vector<ValueId> capture_ids_;
};

// The same function with only the results at `leaves` of its output kept (in the given structure),
// and everything that they do not need removed.
FunctionPtr keep_results(const Function& function, const Spec& output,
                         const std::vector<int>& leaves);
// The function over an input of fewer leaves: leaf i of `narrow` is leaf kept[i] of the old input.
// REQUIRES that the others are not used.
FunctionPtr narrow_input(const Function& function, const Spec& narrow,
                         const std::vector<int>& kept);
// For each leaf of the input: whether a result depends on it.
std::vector<bool> used_inputs(const Function& function);
// The function made anew, node by node: where `replace` sets the outputs itself (true) the node is
// left out. Inputs are values of the new builder.
using ReplaceNode = std::function<bool(const FunctionNode& node, const std::vector<ValueId>& inputs,
                                       FunctionBuilder* builder, std::vector<ValueId>* outputs)>;
FunctionPtr rebuild(const Function& function, const ReplaceNode& replace);
// b after a: one function from a's input. REQUIRES a.output matches b.input and neither captures.
FunctionPtr compose(const Function& a, const Function& b);
// The function that gives its input.
bool is_identity(const Function& function);

}  // namespace penstock
