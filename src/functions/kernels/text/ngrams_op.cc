// ngrams: neighbouring strings along the last axis joined.

#include <algorithm>

#include "data/charged.h"
#include "data/ragged.h"
#include "functions/kernels/math/shape_arguments.h"
#include "functions/kernels/text/strings.h"
#include "functions/kernels/text/text_ops.h"

namespace penstock {
namespace {

struct NgramMaker {
  std::vector<int64_t> widths;         // bounded: written in the pipeline
  std::string separator, left, right;  // bounded: written in the pipeline
  int64_t most_padding = 0;
  bool keep_short;

  explicit NgramMaker(const Attrs& attrs)
      : widths(attr_ints(attrs["ngram_width"])),
        separator(attrs["separator"].as_string()),
        keep_short(attrs["preserve_short_sequences"].as_bool()) {
    const Attr& pads = attrs["pad_values"];
    if (pads.is_none()) return;
    const bool pair = pads.kind() == Attr::Kind::list || pads.kind() == Attr::Kind::tuple;
    if (pair) {
      left = pads.items()[0].as_string();
      right = pads.items()[1].as_string();
    } else {
      const Tensor& t = pads.tensor();
      left = bytes_at(t);
      right = bytes_at(t, t.entries_count() - 1);
    }
    const Attr& width = attrs["padding_width"];
    most_padding = width.is_none() ? *std::ranges::max_element(widths) - 1 : width.as_int();
  }

  int64_t padding(int64_t width) const { return std::min(most_padding, width - 1); }

  // The ngrams of strings [begin, end); gives their number.
  int64_t append(const Tensor& s, int64_t begin, int64_t end, StringWriter* out) const {
    int64_t made = 0;
    for (const int64_t width : widths) {
      const int64_t pad = padding(width);
      for (int64_t at = begin - pad; at + width <= end + pad; ++at, ++made)
        append_one(s, at, width, begin, end, out);
    }
    if (made > 0 || !keep_short || begin == end) return made;
    append_one(s, begin - most_padding, end - begin + 2 * most_padding, begin, end, out);
    return 1;
  }

 private:
  void append_one(const Tensor& s, int64_t at, int64_t width, int64_t begin, int64_t end,
                  StringWriter* out) const {
    for (int64_t i = at; i < at + width; ++i) {
      if (i > at) out->chars() += separator;
      out->chars() += i < begin ? left : i >= end ? right : s.entry<BytesView>(i).view();
    }
    out->finish_entry();
  }
};

void check_attrs(const InferContext& context) {
  for (const int64_t width : infer_ints(context, "ngram_width")) {
    if (width < 1) throw TypeError{-1, "ngram_width", "must be positive: " + std::to_string(width)};
  }
  if (attr_ints(context.attrs["ngram_width"]).empty())
    throw TypeError{-1, "ngram_width", "must name a width"};
  const Attr& pads = context.attrs["pad_values"];
  const bool pair = (pads.kind() == Attr::Kind::list || pads.kind() == Attr::Kind::tuple) &&
                    pads.items().size() == 2;
  const bool text = pads.is_tensor() && pads.tensor().dtype() == DType::bytes &&
                    pads.tensor().entries_count() <= 2 && pads.tensor().entries_count() > 0;
  if (!pads.is_none() && !pair && !text)
    throw TypeError{-1, "pad_values",
                    "must be a string, or one for the left and one for the right"};
}

Spec infer_ngrams(const InferContext& context) {
  check_attrs(context);
  const LeafSpec& type = context.inputs[0].type;
  if (type.kind == LeafSpec::Kind::ragged && type.dtype == DType::bytes) {
    if (type.shape.rank() != type.ragged_rank + 1)
      context.fail(0, "is " + type.text() + ", expected strings along a ragged axis");
    return Spec::of(type);
  }
  context.tensor_of(0, DType::bytes);
  if (!type.shape.has_rank()) return Spec::tensor(DType::bytes, Shape::unknown_rank());
  if (type.shape.is_scalar()) context.fail(0, "is " + type.text() + ", expected several strings");
  std::vector<int64_t> sizes = type.shape.sizes();
  sizes.back() = Shape::kUnknown;
  return Spec::tensor(DType::bytes, Shape(std::move(sizes)));
}

void ngrams_row(const RowCall& call) {
  const auto& maker = *static_cast<const NgramMaker*>(call.state);
  const RaggedTensor* ragged = as_ragged(call.inputs[0]);
  const Tensor& s = ragged ? ragged->values() : call.inputs[0];
  if (s.dims().rank() == 0) fail_row("ngrams", "expected several strings, got one");
  StringWriter writer(s.entries_count());
  ChargedVector<int64_t> splits{0};
  auto add = [&](int64_t begin, int64_t end) {
    splits.push_back(splits.back() + maker.append(s, begin, end, &writer));
  };
  Dims dims = s.dims();
  if (ragged) {
    const Tensor& rows = ragged->splits().back();
    for (int64_t i = 0; i + 1 < rows.entries_count(); ++i)
      add(rows.entry<int64_t>(i), rows.entry<int64_t>(i + 1));
    dims = {splits.back()};
  } else {
    const int64_t length = dims[dims.rank() - 1];
    dims[dims.rank() - 1] = 1;
    const int64_t rows = dims.entries();
    for (int64_t i = 0; i < rows; ++i) add(i * length, (i + 1) * length);
    dims[dims.rank() - 1] = rows > 0 ? splits[1] : 0;
  }
  Tensor out = Tensor::make(DType::bytes, dims);
  writer.finish(out.mutable_entries<BytesView>(), &out.mutable_buffer());
  if (!ragged) return call.outputs[0].set(std::move(out));
  std::vector<Tensor> axes = ragged->splits();
  axes.back() = Tensor::vector<int64_t>(splits);
  call.outputs[0].set(make_ragged(std::move(axes), std::move(out)));
}

}  // namespace

void add_ngrams_op(OpRegistry* registry) {
  OpDef op;
  op.name = "ngrams";
  op.params = {required("s", Param::Kind::tensor),
               required("ngram_width", Param::Kind::any),
               optional("separator", Param::Kind::text, Attr::text(" ")),
               option("pad_values", Param::Kind::any, {}),
               option("padding_width", Param::Kind::any, {}),
               option("preserve_short_sequences", Param::Kind::boolean, Attr::boolean(false))};
  op.doc = "ngram_width (or each of several widths) neighbours along the last axis, joined";
  op.infer = infer_ngrams;
  op.row = ngrams_row;
  op.prepare = [](const Attrs& attrs) -> std::shared_ptr<const void> {
    return std::make_shared<const NgramMaker>(attrs);
  };
  op.cost_ns = 500;
  op.group = "text";
  registry->add(std::move(op));
}

}  // namespace penstock
