// serialize_tensor, parse_tensor.

#include "functions/kernels/math/shape_arguments.h"
#include "functions/kernels/parse/parse_family.h"
#include "functions/kernels/parse/tensor_proto.h"
#include "functions/op.h"

namespace penstock {
namespace {

Spec infer_serialize(const InferContext& context) {
  context.tensor(0);
  return Spec::tensor(DType::bytes, {});
}

void serialize_row(const RowCall& call) {
  call.outputs[0].set(Tensor::of_bytes(write_tensor_proto(call.inputs[0])));
}

Spec infer_parse(const InferContext& context) {
  context.tensor_of(0, DType::bytes);
  context.check_rank(0, 0);
  return Spec::tensor(context.attrs["dtype"].as_dtype(), Shape::unknown_rank());
}

void parse_row(const RowCall& call) {
  const Tensor& in = call.inputs[0];
  if (in.dims().rank() != 0) fail_row("parse_tensor", "expected one string");
  Tensor out = read_tensor_proto(bytes_at(in), call.outputs[0].dtype());
  share_strings(&out.mutable_buffer(), in.buffer(), out.dtype());
  call.outputs[0].set(std::move(out));
}

}  // namespace

void add_tensor_proto_ops(OpRegistry* registry) {
  OpDef serialize;
  serialize.name = "serialize_tensor";
  serialize.params = {required("x", Param::Kind::tensor)};
  serialize.doc = "x as the bytes of TensorFlow's TensorProto";
  serialize.infer = infer_serialize;
  serialize.row = serialize_row;
  serialize.cost_ns = 200;
  serialize.group = "parse";
  registry->add(std::move(serialize));
  OpDef parse;
  parse.name = "parse_tensor";
  parse.params = {required("serialized", Param::Kind::tensor),
                  required("dtype", Param::Kind::dtype)};
  parse.doc = "the tensor of that dtype that a TensorProto holds; its shape is known at run time";
  parse.infer = infer_parse;
  parse.row = parse_row;
  parse.can_fail = true;
  parse.cost_ns = 200;
  parse.group = "parse";
  registry->add(std::move(parse));
}

}  // namespace penstock
