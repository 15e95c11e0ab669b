#include "functions/ragged_lift.h"

#include <algorithm>

namespace penstock {
namespace {

bool is_ragged(const FunctionBuilder& builder, ValueId id) {
  return builder.type(id).kind == LeafSpec::Kind::ragged;
}

ValueId add_one(FunctionBuilder* builder, std::string_view op, std::vector<ValueId> inputs) {
  std::vector<ValueId> outputs;
  builder->add_op(*OpRegistry::instance().find(op), std::move(inputs), {}, &outputs);
  return outputs[0];
}

}  // namespace

bool lifts_over_ragged(const FunctionBuilder& builder, const OpDef& op,
                       const std::vector<ValueId>& inputs) {
  return (op.elementwise || op.lifts_ragged) &&
         std::ranges::any_of(inputs, [&](ValueId id) { return is_ragged(builder, id); });
}

Spec add_over_ragged(FunctionBuilder* builder, const OpDef& op, const std::vector<ValueId>& inputs,
                     const Attrs& attrs, std::vector<ValueId>* outputs) {
  const ValueId base =
      *std::ranges::find_if(inputs, [&](ValueId i) { return is_ragged(*builder, i); });
  std::vector<ValueId> values;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const LeafSpec& type = builder->type(inputs[i]);
    if (inputs[i] == base) {
      values.push_back(add_one(builder, "flat_values", {base}));
    } else if (type.kind == LeafSpec::Kind::ragged) {
      values.push_back(add_one(builder, "aligned_values", {inputs[i], base}));
    } else if (type.kind == LeafSpec::Kind::dataset ||
               (type.is_tensor() && type.shape.is_scalar())) {
      values.push_back(inputs[i]);
    } else {
      throw TypeError{
          static_cast<int>(i),
          {},
          "is " + type.text() + ", expected a scalar or a ragged tensor beside a ragged one"};
    }
  }
  std::vector<ValueId> made;
  const Spec flat = builder->add_op(op, std::move(values), attrs, &made);
  outputs->clear();
  std::vector<LeafSpec> leaves;
  for (const ValueId id : made) {
    outputs->push_back(add_one(builder, "with_flat_values", {base, id}));
    leaves.push_back(builder->type(outputs->back()));
  }
  return flat.with_leaves(leaves);
}

}  // namespace penstock
