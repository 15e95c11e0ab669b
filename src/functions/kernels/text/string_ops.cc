// string_length and strip.

#include "functions/kernels/math/shape_arguments.h"
#include "functions/kernels/text/string_map.h"
#include "functions/kernels/text/text_ops.h"

namespace penstock {
namespace {

class Length final : public StringMap<int64_t> {
 public:
  explicit Length(const Attrs& attrs) : characters_(counts_characters(attrs)) {}
  int64_t value(std::string_view text) const override {
    return characters_ ? utf8_length(text) : static_cast<int64_t>(text.size());
  }

 private:
  bool characters_;
};

void strip(const BytesView* in, int64_t n, BytesView* out) {
  for (int64_t i = 0; i < n; ++i) {
    const std::string_view text = stripped(in[i].view());
    out[i] = {text.data(), static_cast<int64_t>(text.size())};
  }
}

void strip_row(const RowCall& call) {
  const Tensor& in = call.inputs[0];
  Tensor out = Tensor::make(DType::bytes, in.dims());
  strip(in.entries<BytesView>(), in.entries_count(), out.mutable_entries<BytesView>());
  share_strings(&out.mutable_buffer(), in.buffer(), DType::bytes);
  call.outputs[0].set(std::move(out));
}

bool strip_block(const BlockCall& call) {
  const Column& in = call.inputs[0];
  if (in.kind() != Column::Kind::dense) return false;
  Column out = Column::dense(DType::bytes, in.row_dims(), call.rows);
  strip(in.entries<BytesView>(), call.rows * in.row_dims().entries(),
        out.mutable_entries<BytesView>());
  share_strings(&out.mutable_buffer(), in.buffer(), DType::bytes);
  call.outputs[0] = std::move(out);
  return true;
}

}  // namespace

void add_string_ops(OpRegistry* registry) {
  OpDef length = string_map_op<int64_t>(
      "string_length", "the number of bytes of s (or characters: unit=\"UTF8_CHAR\"), int64",
      {unit_param()}, [](const Attrs& attrs) -> std::shared_ptr<const StringMap<int64_t>> {
        return std::make_shared<Length>(attrs);
      });
  length.infer = [](const InferContext& context) {
    check_unit(context);
    return infer_string_map<int64_t>(context);
  };
  length.cost_ns = 10;
  registry->add(std::move(length));
  OpDef op;
  op.name = "strip";
  op.params = {required("s", Param::Kind::tensor)};
  op.doc = "s without the ASCII white space around it";
  op.infer = infer_string_rewrite;
  op.row = strip_row;
  op.block = strip_block;
  op.elementwise = true;
  op.cost_ns = 20;
  op.group = "text";
  registry->add(std::move(op));
}

}  // namespace penstock
