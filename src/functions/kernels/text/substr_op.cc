// substr: a part of each string, counted in bytes or in UTF-8 characters.

#include <algorithm>

#include "functions/kernels/math/broadcast.h"
#include "functions/kernels/math/shape_arguments.h"
#include "functions/kernels/text/strings.h"
#include "functions/kernels/text/text_ops.h"

namespace penstock {
namespace {

[[noreturn]] void fail_position(int64_t pos, const BytesView& text) {
  fail_row("substr", "position " + std::to_string(pos) + " is outside " + quoted(text.view()));
}

BytesView cut_bytes(const BytesView& text, int64_t pos, int64_t len) {
  if (pos > text.size || pos < -text.size) fail_position(pos, text);
  const int64_t begin = pos < 0 ? pos + text.size : pos, rest = text.size - begin;
  return {text.data + begin, len < 0 ? rest : std::min(len, rest)};
}

BytesView cut_characters(const BytesView& text, int64_t pos, int64_t len) {
  const int64_t characters = utf8_length(text.view());
  if (pos > characters || pos < -characters) fail_position(pos, text);
  const std::string_view rest =
      text.view().substr(utf8_offset(text.view(), pos < 0 ? pos + characters : pos));
  const size_t size = len < 0 ? rest.size() : utf8_offset(rest, len);
  return {rest.data(), static_cast<int64_t>(size)};
}

Spec infer_substr(const InferContext& context) {
  check_unit(context);
  Shape shape = context.tensor_of(0, DType::bytes).shape;
  for (int i = 1; i < 3; ++i) {
    bool ok = true;
    shape = broadcast_shapes(shape, infer_integers(context, i, -1).shape, &ok);
    if (!ok)
      context.fail(i, "has shape " + context.tensor(i).shape.text() + ", which does not broadcast");
  }
  return Spec::tensor(DType::bytes, std::move(shape));
}

void substr_row(const RowCall& call) {
  const Tensor &in = call.inputs[0], &pos = call.inputs[1], &len = call.inputs[2];
  const Dims dims =
      broadcast_dims("substr", broadcast_dims("substr", in.dims(), pos.dims()), len.dims());
  const std::array<Extents, 3> extents{Extents(in.dims()), Extents(pos.dims()),
                                       Extents(len.dims())};
  const auto plan = BroadcastPlan::make(extents);
  Tensor out = Tensor::make(DType::bytes, dims);
  const bool characters = counts_characters(call.attrs);
  const int64_t s0 = plan->steps(0), s1 = plan->steps(1), s2 = plan->steps(2);
  plan->for_each_run([&](int64_t to, int64_t n, const auto& at) {
    for (int64_t i = 0; i < n; ++i) {
      const BytesView& text = in.entry<BytesView>(at[0] + i * s0);
      const int64_t p = integer_at(pos, at[1] + i * s1), l = integer_at(len, at[2] + i * s2);
      out.mutable_entries<BytesView>()[to + i] =
          characters ? cut_characters(text, p, l) : cut_bytes(text, p, l);
    }
  });
  share_strings(&out.mutable_buffer(), in.buffer(), DType::bytes);
  call.outputs[0].set(std::move(out));
}

}  // namespace

void add_substr_op(OpRegistry* registry) {
  OpDef op;
  op.name = "substr";
  op.params = {required("s", Param::Kind::tensor), required("pos", Param::Kind::tensor),
               required("len", Param::Kind::tensor), unit_param()};
  op.doc =
      "len bytes (or characters: unit=\"UTF8_CHAR\") of s from pos, which counts from the end when "
      "negative; all that is left when len is negative";
  op.infer = infer_substr;
  op.row = substr_row;
  op.can_fail = true;
  op.cost_ns = 60;
  op.group = "text";
  op.lifts_ragged = true;
  registry->add(std::move(op));
}

}  // namespace penstock
