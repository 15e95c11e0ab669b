// ragged([[1], [2, 3]]): a constant from nested lists.

#include <memory>

#include "functions/kernels/math/convert.h"
#include "functions/kernels/ragged/ragged_family.h"
#include "functions/kernels/ragged/ragged_rows.h"

namespace penstock {
namespace {

[[noreturn]] void refuse(const std::string& what) { throw TypeError{-1, "rows", what}; }

struct Collected {
  std::vector<std::vector<int64_t>> splits;  // by axis
  std::vector<Tensor> entries;               // scalars, in order
  int depth = -1;                            // of lists; -1: no entry was seen
};

// The items of a list, or of a tensor that stands for one of equal rows.
std::vector<Attr> items_of(const Attr& attr) {
  if (!attr.is_tensor()) return attr.items();
  std::vector<Attr> out;
  for (int64_t i = 0; i < attr.tensor().dims()[0]; ++i)
    out.push_back(Attr::of(attr.tensor().item(i)));
  return out;
}

void collect(const Attr& attr, int depth, Collected* out) {
  const bool scalar = attr.is_tensor() && attr.tensor().dims().rank() == 0;
  if (scalar) {
    if (out->depth >= 0 && out->depth != depth) refuse("holds entries at different depths");
    out->depth = depth;
    out->entries.push_back(attr.tensor());
    return;
  }
  if (!attr.is_tensor() && attr.kind() != Attr::Kind::list && attr.kind() != Attr::Kind::tuple)
    refuse("must be nested lists of numbers or strings");
  const std::vector<Attr> items = items_of(attr);
  if (static_cast<int>(out->splits.size()) <= depth) out->splits.emplace_back(1, 0);
  for (const Attr& item : items) collect(item, depth + 1, out);
  auto& own = out->splits[static_cast<size_t>(depth)];
  own.push_back(own.back() + static_cast<int64_t>(items.size()));
}

Tensor entries_tensor(const std::vector<Tensor>& entries, DType dtype) {
  const auto n = static_cast<int64_t>(entries.size());
  Tensor out = Tensor::make(dtype, {n});
  for (int64_t i = 0; i < n; ++i) {
    const Tensor& entry = entries[static_cast<size_t>(i)];
    if ((entry.dtype() == DType::bytes) != (dtype == DType::bytes))
      refuse("mixes numbers and strings");
    if (dtype == DType::bytes) {
      out.mutable_entries<BytesView>()[i] = entry.entry<BytesView>();
      out.mutable_buffer().keep(entry.buffer());
    } else {
      convert_entries(entry.dtype(), entry.data(), dtype,
                      out.mutable_data() + i * dtype_size(dtype), 1);
    }
  }
  return out;
}

Tensor literal(const Attrs& attrs) {
  Collected all;
  collect(attrs["rows"], 0, &all);
  DType dtype = DType::int64;
  if (!attrs["dtype"].is_none()) {
    dtype = attrs["dtype"].as_dtype();
  } else {
    for (const Tensor& entry : all.entries) dtype = entry.dtype();
  }
  // splits[0] counts the rows themselves; the deepest lists hold entries.
  if (all.splits.size() < 2) refuse("must be a list of lists");
  std::vector<Tensor> splits;
  for (size_t k = 1; k < all.splits.size(); ++k)
    splits.push_back(Tensor::vector<int64_t>(all.splits[k]));
  try {
    return make_ragged(std::move(splits), entries_tensor(all.entries, dtype));
  } catch (const Error&) {
    refuse("holds entries at different depths");
  }
}

Spec infer_literal(const InferContext& context) {
  const Tensor value = literal(context.attrs);
  const RaggedTensor& x = *as_ragged(value);
  std::vector<int64_t> sizes{x.rows()};
  sizes.resize(static_cast<size_t>(x.ragged_rank()) + 1, Shape::kUnknown);
  return Spec::of(ragged_leaf(x.values().dtype(), Shape(std::move(sizes)), x.ragged_rank()));
}

void literal_row(const RowCall& call) {
  call.outputs[0].set(*static_cast<const Tensor*>(call.state));
}

}  // namespace

void add_ragged_literal_op(OpRegistry* registry) {
  OpDef op =
      ragged_op("ragged", "a ragged tensor from nested lists", infer_literal, literal_row,
                {required("rows", Param::Kind::any), optional("dtype", Param::Kind::dtype, {})});
  op.params[1].accepts_none = true;
  op.prepare = [](const Attrs& attrs) -> std::shared_ptr<const void> {
    return std::make_shared<const Tensor>(literal(attrs));
  };
  op.cost_ns = 20;
  registry->add(std::move(op));
}

}  // namespace penstock
