#include "functions/kernels/text/string_map.h"

namespace penstock {

Spec infer_string_rewrite(const InferContext& context) {
  return Spec::tensor(DType::bytes, context.tensor_of(0, DType::bytes).shape);
}

void string_rewrite_row(const RowCall& call) {
  const auto& rewrite = *static_cast<const StringRewrite*>(call.state);
  const Tensor& in = call.inputs[0];
  Tensor out = Tensor::make(DType::bytes, in.dims());
  StringWriter writer(in.entries_count());
  for (int64_t i = 0; i < in.entries_count(); ++i) {
    rewrite.append(in.entry<BytesView>(i).view(), &writer.chars());
    writer.finish_entry();
  }
  writer.finish(out.mutable_entries<BytesView>(), &out.mutable_buffer());
  call.outputs[0].set(std::move(out));
}

bool string_rewrite_block(const BlockCall& call) {
  const auto& rewrite = *static_cast<const StringRewrite*>(call.state);
  const Column& in = call.inputs[0];
  if (in.kind() != Column::Kind::dense) return false;
  const int64_t n = in.row_dims().entries();
  Column out = Column::dense(DType::bytes, in.row_dims(), call.rows);
  StringWriter writer(call.rows * n);
  const auto* texts = in.entries<BytesView>();
  for (int64_t row = 0; row < call.rows; ++row, texts += n) {
    int64_t done = 0;
    const bool good = guard_row(call, row, [&] {
      for (; done < n; ++done) {
        rewrite.append(texts[done].view(), &writer.chars());
        writer.finish_entry();
      }
    });
    for (; !good && done < n; ++done) writer.finish_entry();
  }
  writer.finish(out.mutable_entries<BytesView>(), &out.mutable_buffer());
  call.outputs[0] = std::move(out);
  return true;
}

OpDef string_rewrite_op(std::string name, std::string doc, std::vector<Param> params,
                        std::shared_ptr<const StringRewrite> (*make)(const Attrs&)) {
  OpDef op;
  op.name = std::move(name);
  op.doc = std::move(doc);
  op.params = {required("s", Param::Kind::tensor)};
  op.params.insert(op.params.end(), params.begin(), params.end());
  op.infer = infer_string_rewrite;
  op.row = string_rewrite_row;
  op.block = string_rewrite_block;
  op.prepare = [make](const Attrs& attrs) -> std::shared_ptr<const void> { return make(attrs); };
  op.elementwise = true;
  op.group = "text";
  return op;
}

}  // namespace penstock
