// unicode_encode: code points along the last axis to text.

#include "data/ragged.h"
#include "functions/kernels/math/shape_arguments.h"
#include "functions/kernels/text/encoding.h"
#include "functions/kernels/text/strings.h"
#include "functions/kernels/text/text_ops.h"

namespace penstock {
namespace {

struct Encoder {
  explicit Encoder(const Attrs& attrs)
      : policy(attrs), form(unicode_form(attrs, "output_encoding")) {}
  void append(const Tensor& codes, int64_t begin, int64_t end, StringWriter* out) const {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t code = integer_at(codes, i);
      const int32_t taken =
          is_code_point(code) ? static_cast<int32_t>(code) : policy.taken(0, true);
      if (taken >= 0) append_code_point(taken, form, &out->chars());
    }
    out->finish_entry();
  }
  ErrorPolicy policy;
  UnicodeForm form;
};

Spec infer_encode(const InferContext& context) {
  ErrorPolicy::check(context);
  unicode_form(context.attrs, "output_encoding");
  const LeafSpec& type = context.inputs[0].type;
  const bool ragged = type.kind == LeafSpec::Kind::ragged && is_integer(type.dtype);
  if (!ragged) infer_integers(context, 0, -1);
  if (!type.shape.has_rank()) return Spec::tensor(DType::bytes, Shape::unknown_rank());
  if (type.shape.is_scalar()) context.fail(0, "is " + type.text() + ", expected code points");
  std::vector<int64_t> sizes = type.shape.sizes();
  sizes.pop_back();
  if (!ragged || type.ragged_rank == 1) return Spec::tensor(DType::bytes, Shape(std::move(sizes)));
  return Spec::of(ragged_leaf(DType::bytes, Shape(std::move(sizes)), type.ragged_rank - 1));
}

Tensor finished(const StringWriter& writer, const Dims& dims) {
  Tensor out = Tensor::make(DType::bytes, dims);
  writer.finish(out.mutable_entries<BytesView>(), &out.mutable_buffer());
  return out;
}

void encode_row(const RowCall& call) {
  const auto& encoder = *static_cast<const Encoder*>(call.state);
  if (const RaggedTensor* ragged = as_ragged(call.inputs[0])) {
    std::vector<Tensor> splits = ragged->splits();
    const Tensor last = splits.back();
    splits.pop_back();
    const int64_t rows = last.entries_count() - 1;
    StringWriter writer(rows);
    for (int64_t i = 0; i < rows; ++i) {
      encoder.append(ragged->values(), last.entry<int64_t>(i), last.entry<int64_t>(i + 1), &writer);
    }
    Tensor out = finished(writer, {rows});
    call.outputs[0].set(splits.empty() ? std::move(out)
                                       : make_ragged(std::move(splits), std::move(out)));
    return;
  }
  const Tensor& in = call.inputs[0];
  if (in.dims().rank() == 0) fail_row("unicode_encode", "expected code points, got a scalar");
  const Dims dims(in.dims().sizes().first(static_cast<size_t>(in.dims().rank() - 1)));
  const int64_t length = in.dims()[in.dims().rank() - 1];
  StringWriter writer(dims.entries());
  for (int64_t i = 0; i < dims.entries(); ++i)
    encoder.append(in, i * length, (i + 1) * length, &writer);
  call.outputs[0].set(finished(writer, dims));
}

}  // namespace

void add_unicode_encode_op(OpRegistry* registry) {
  OpDef op;
  op.name = "unicode_encode";
  op.params = {required("codes", Param::Kind::tensor),
               optional("output_encoding", Param::Kind::text, Attr::text("UTF-8"))};
  for (Param& p : ErrorPolicy::params(false)) op.params.push_back(std::move(p));
  op.doc = "text of the code points along the last axis: UTF-8, UTF-16-BE or UTF-32-BE";
  op.infer = infer_encode;
  op.row = encode_row;
  op.prepare = [](const Attrs& attrs) -> std::shared_ptr<const void> {
    return std::make_shared<const Encoder>(attrs);
  };
  op.can_fail = true;
  op.cost_ns = 200;
  op.group = "text";
  registry->add(std::move(op));
}

}  // namespace penstock
