// Values that may be missing: optional_of, optional_none, has_value, get_value.

#include "data/optional.h"
#include "functions/kernels/families.h"
#include "functions/kernels/op_def.h"

namespace penstock {
namespace {

const LeafSpec& optional_input(const InferContext& context) {
  const LeafSpec& type = context.inputs[0].type;
  if (type.kind != LeafSpec::Kind::optional)
    context.fail(0, "is " + type.text() + ", expected an optional value");
  return type;
}

const OptionalTensor& optional_at(const RowCall& call) {
  const OptionalTensor* value = as_optional(call.inputs[0]);
  PENSTOCK_CHECK(value != nullptr);
  return *value;
}

Spec infer_of(const InferContext& context) {
  const LeafSpec& type = context.tensor(0);
  return Spec::of(optional_leaf(type.dtype, type.shape));
}

void of_row(const RowCall& call) { call.outputs[0].set(make_optional(call.inputs[0])); }

Shape none_shape(const Attrs& attrs) {
  return attrs["shape"].is_none() ? Shape() : Shape(attrs["shape"].as_ints());
}

Spec infer_none(const InferContext& context) {
  return Spec::of(optional_leaf(context.attrs["dtype"].as_dtype(), none_shape(context.attrs)));
}

void none_row(const RowCall& call) {
  call.outputs[0].set(make_missing(call.attrs["dtype"].as_dtype(), none_shape(call.attrs)));
}

Spec infer_has(const InferContext& context) {
  optional_input(context);
  return Spec::tensor(DType::boolean, {});
}

void has_row(const RowCall& call) {
  call.outputs[0].set(Tensor::scalar(optional_at(call).has_value()));
}

Spec infer_get(const InferContext& context) {
  const LeafSpec& type = optional_input(context);
  if (context.inputs.size() < 2) return Spec::tensor(type.dtype, type.shape);
  const LeafSpec& fallback = context.tensor(1);
  if (fallback.dtype != type.dtype) {
    context.fail(1, "is " + fallback.text() + ", expected " +
                        LeafSpec::tensor(type.dtype, type.shape).text());
  }
  return Spec::tensor(type.dtype, Shape::join(type.shape, fallback.shape));
}

void get_row(const RowCall& call) {
  const OptionalTensor& x = optional_at(call);
  if (x.has_value()) return call.outputs[0].set(x.value());
  if (call.inputs.size() > 1) return call.outputs[0].set(call.inputs[1]);
  throw Error(Code::invalid_argument, "get_value: there is no value; give a default");
}

}  // namespace

void add_optional_ops(OpRegistry* registry) {
  const OpTraits traits{"optional", 60};
  registry->add(op_def("optional_of", "an optional value that is there", {tensor_param("x")},
                       infer_of, of_row, traits));
  registry->add(
      op_def("optional_none", "an optional value of this dtype and shape that is missing",
             {required("dtype", Param::Kind::dtype), optional("shape", Param::Kind::shape, {})},
             infer_none, none_row, traits));
  registry->add(op_def("has_value", "whether an optional value is there", {tensor_param("x")},
                       infer_has, has_row, traits));
  OpDef get = op_def("get_value",
                     "the value of an optional one; where it is missing the default, or an error",
                     {tensor_param("x"), optional("default", Param::Kind::tensor, {})}, infer_get,
                     get_row, {"optional", 60, true});
  get.literals_from = 0;
  registry->add(std::move(get));
}

}  // namespace penstock
