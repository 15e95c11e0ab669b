// encode, decode: text to the pieces of a model and back; model_size, special_id.

#include <algorithm>

#include "data/charged.h"
#include "data/ragged.h"
#include "functions/kernels/math/shape_arguments.h"
#include "functions/kernels/text/string_lists.h"
#include "functions/kernels/text/strings.h"
#include "functions/kernels/text/text_ops.h"
#include "functions/kernels/text/tokenizer.h"

namespace penstock {
namespace {

class Encode final : public StringLists {
 public:
  explicit Encode(const Attrs& attrs)
      : model_(open_tokenizer(attrs["model"])), reverse_(attrs["reverse"].as_bool()) {
    if (attrs["bos"].as_bool()) bos_ = special("bos");
    if (attrs["eos"].as_bool()) eos_ = special("eos");
  }
  void append(std::string_view text, ListParts* out) const override {
    if (bos_ >= 0) out->codes.push_back(bos_);
    const auto begin = static_cast<std::ptrdiff_t>(out->codes.size());
    model_->encode(text, &out->codes);
    if (reverse_) std::reverse(out->codes.begin() + begin, out->codes.end());
    if (eos_ >= 0) out->codes.push_back(eos_);
  }

 private:
  int32_t special(const char* name) const {
    const int32_t id = model_->special(name);
    if (id < 0)
      throw Error(Code::invalid_argument, std::string("encode: the model has no ") + name);
    return id;
  }
  std::shared_ptr<const Tokenizer> model_;
  bool reverse_;
  int32_t bos_ = -1, eos_ = -1;
};

void check_model(const InferContext& context) {
  const Attr& model = context.attrs["model"];
  if (model.kind() != Attr::Kind::dict || model.keys().empty() || model.keys()[0] != "is")
    throw TypeError{-1, "model", "must be sentencepiece(...) or bpe(...)"};
}

Spec infer_decode(const InferContext& context) {
  check_model(context);
  const LeafSpec& type = context.inputs[0].type;
  const bool ragged = type.kind == LeafSpec::Kind::ragged && is_integer(type.dtype);
  if (!ragged) infer_integers(context, 0, -1);
  if (!type.shape.has_rank()) return Spec::tensor(DType::bytes, Shape::unknown_rank());
  if (type.shape.is_scalar()) context.fail(0, "is " + type.text() + ", expected numbers of pieces");
  if (ragged && type.ragged_rank != 1)
    context.fail(0, "is " + type.text() + ", expected one ragged axis");
  std::vector<int64_t> sizes = type.shape.sizes();
  sizes.pop_back();
  return Spec::tensor(DType::bytes, Shape(std::move(sizes)));
}

void decode_row(const RowCall& call) {
  const auto& model = *static_cast<const Tokenizer*>(call.state);
  const RaggedTensor* ragged = as_ragged(call.inputs[0]);
  const Tensor& in = ragged ? ragged->values() : call.inputs[0];
  if (in.dims().rank() == 0) fail_row("decode", "expected numbers of pieces, got a scalar");
  ChargedVector<int32_t> ids;
  for (int64_t i = 0; i < in.entries_count(); ++i) {
    const int64_t id = integer_at(in, i);
    if (id < 0 || id >= model.size()) fail_piece(id, model.size());
    ids.push_back(static_cast<int32_t>(id));
  }
  const int64_t length = in.dims()[in.dims().rank() - 1];
  Dims dims(in.dims().sizes().first(static_cast<size_t>(in.dims().rank() - 1)));
  if (ragged) dims = {ragged->rows()};
  StringWriter writer(dims.entries());
  for (int64_t i = 0; i < dims.entries(); ++i) {
    const int64_t begin = ragged ? ragged->begin(i) : i * length;
    const int64_t n = ragged ? ragged->length(i) : length;
    writer.add(
        model.decode(std::span(ids).subspan(static_cast<size_t>(begin), static_cast<size_t>(n))));
  }
  Tensor out = Tensor::make(DType::bytes, dims);
  writer.finish(out.mutable_entries<BytesView>(), &out.mutable_buffer());
  call.outputs[0].set(std::move(out));
}

Spec infer_number(const InferContext& context) {
  check_model(context);
  return Spec::tensor(DType::int64, {});
}

void number_row(const RowCall& call) {
  const auto& model = *static_cast<const Tokenizer*>(call.state);
  const Attr* name = call.attrs.find("name");
  *call.outputs[0].allocate_as<int64_t>({}) =
      name ? model.special(name->as_string()) : model.size();
}

std::shared_ptr<const void> prepare_model(const Attrs& attrs) {
  return open_tokenizer(attrs["model"]);
}

void add_model_op(OpRegistry* registry, OpDef op, Spec (*infer)(const InferContext&),
                  RowKernel row) {
  op.infer = infer;
  op.row = row;
  op.prepare = prepare_model;
  op.group = "text";
  registry->add(std::move(op));
}

}  // namespace

void add_tokenize_ops(OpRegistry* registry) {
  const Param model = required("model", Param::Kind::any);
  OpDef encode = string_lists_op(
      "encode", "the numbers of the pieces of s by a sentencepiece(...) or bpe(...) model, int32",
      {option("bos", Param::Kind::boolean, Attr::boolean(false)),
       option("eos", Param::Kind::boolean, Attr::boolean(false)),
       option("reverse", Param::Kind::boolean, Attr::boolean(false))},
      {DType::int32}, [](const Attrs& attrs) -> std::shared_ptr<const StringLists> {
        return std::make_shared<Encode>(attrs);
      });
  encode.params.insert(encode.params.begin(), model);
  encode.infer = [infer = encode.infer](const InferContext& context) {
    check_model(context);
    return infer(context);
  };
  encode.cost_ns = 5000;
  registry->add(std::move(encode));
  OpDef decode;
  decode.name = "decode";
  decode.params = {model, required("ids", Param::Kind::tensor)};
  decode.doc = "the text of the pieces along the last axis; OUT_OF_RANGE for unknown numbers";
  decode.can_fail = true;
  decode.cost_ns = 1000;
  add_model_op(registry, std::move(decode), infer_decode, decode_row);
  OpDef size;
  size.name = "model_size";
  size.params = {model};
  size.doc = "how many pieces a model has";
  add_model_op(registry, std::move(size), infer_number, number_row);
  OpDef special;
  special.name = "special_id";
  special.params = {model, required("name", Param::Kind::text)};
  special.doc = "the number of a model's \"bos\", \"eos\", \"unk\" or \"pad\" piece; -1 for none";
  add_model_op(registry, std::move(special), infer_number, number_row);
}

}  // namespace penstock
