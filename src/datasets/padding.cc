#include "datasets/padding.h"

#include <algorithm>

namespace penstock {
namespace {

// Copies `from` into the corner of `to`, axis by axis; both rank `rank`.
void copy_corner(const std::byte* from, const Dims& from_dims, std::byte* to, const Dims& to_dims,
                 int64_t entry, int axis) {
  if (axis == from_dims.rank()) {
    std::memcpy(to, from, static_cast<size_t>(entry));
    return;
  }
  int64_t from_stride = entry, to_stride = entry;
  for (int i = axis + 1; i < from_dims.rank(); ++i) {
    from_stride *= from_dims[i];
    to_stride *= to_dims[i];
  }
  if (axis == from_dims.rank() - 1) {
    if (from_dims[axis] > 0) std::memcpy(to, from, static_cast<size_t>(from_dims[axis] * entry));
    return;
  }
  for (int64_t i = 0; i < from_dims[axis]; ++i)
    copy_corner(from + i * from_stride, from_dims, to + i * to_stride, to_dims, entry, axis + 1);
}

// `bytes` bytes of copies of one entry, each stretch copied from the ones before it.
void fill_with(const std::byte* value, size_t entry, std::byte* to, size_t bytes) {
  if (bytes == 0) return;
  std::memcpy(to, value, entry);
  for (size_t done = entry; done < bytes;) {
    const size_t n = std::min({done, bytes - done, size_t{1} << 14});
    std::memcpy(to + done, to, n);
    done += n;
  }
}

bool same_but_first(const Dims& a, const Dims& b) {
  for (int i = 1; i < a.rank(); ++i)
    if (a[i] != b[i]) return false;
  return true;
}

// A row into its place of `to_dims`, and the value into what it leaves open.
void place_row(const std::byte* from, const Dims& dims, std::byte* to, const Dims& to_dims,
               const Tensor& value) {
  const int64_t entry = dtype_size(value.dtype());
  const int64_t bytes = dims.entries() * entry, room = to_dims.entries() * entry;
  const auto fill = [&](int64_t from_byte) {
    fill_with(value.data(), static_cast<size_t>(entry), to + from_byte,
              static_cast<size_t>(room - from_byte));
  };
  if (same_but_first(dims, to_dims)) {  // its entries stand side by side
    if (bytes > 0) std::memcpy(to, from, static_cast<size_t>(bytes));
    return fill(bytes);
  }
  fill(0);
  if (bytes > 0) copy_corner(from, dims, to, to_dims, entry, 0);
}

bool is_shape(const Attr& a) {
  if (a.is_tensor()) return a.tensor().dims().rank() == 1;
  return a.kind() == Attr::Kind::list;
}

// The attribute for each leaf: one for all, or a tree of the element's structure.
void per_leaf(const Attr& a, const Spec& spec, bool (*is_one)(const Attr&),
              std::vector<Attr>* out) {
  if (spec.is_leaf() || a.is_none() || is_one(a)) {
    for (int i = 0; i < spec.leaf_count(); ++i) out->push_back(a);
    return;
  }
  if (a.items().size() != spec.items.size())
    throw Error(Code::invalid_argument,
                "does not have the structure of an element: " + spec.text());
  for (size_t i = 0; i < spec.items.size(); ++i) {
    size_t at = i;
    if (spec.kind == Spec::Kind::dict && a.kind() == Attr::Kind::dict) {
      at = static_cast<size_t>(std::ranges::find(a.keys(), spec.keys[i]) - a.keys().begin());
      if (at == a.keys().size())
        throw Error(Code::invalid_argument, "has no field " + spec.keys[i]);
    }
    per_leaf(a.items()[at], spec.items[i], is_one, out);
  }
}

Tensor padding_value(const Attr& given, const LeafSpec& leaf) {
  if (given.is_none()) {
    if (leaf.dtype == DType::bytes) return Tensor::of_bytes("");
    Tensor zero = Tensor::make(leaf.dtype, {});
    std::memset(zero.mutable_data(), 0, static_cast<size_t>(zero.data_bytes()));
    return zero;
  }
  if (!given.is_tensor() || given.tensor().dims().rank() != 0)
    throw Error(Code::invalid_argument, "expected a scalar for each component");
  const Tensor& t = given.tensor();
  if (t.dtype() == leaf.dtype) return t;
  const bool literal = (t.dtype() == DType::int64 && is_integer(leaf.dtype)) ||
                       (t.dtype() == DType::float32 && is_float(leaf.dtype));
  if (!literal) {
    throw Error(Code::invalid_argument, "is " + std::string(dtype_name(t.dtype())) +
                                            ", the component is " +
                                            std::string(dtype_name(leaf.dtype)));
  }
  Tensor out = Tensor::make(leaf.dtype, {});
  visit_dtype(leaf.dtype, [&]<typename T>(TypeTag<T>) {
    if constexpr (std::is_same_v<T, Float16>)
      *out.mutable_entries<T>() = to_float16(static_cast<float>(number_at(t)));
    else if constexpr (std::is_same_v<T, BFloat16>)
      *out.mutable_entries<T>() = to_bfloat16(static_cast<float>(number_at(t)));
    else if constexpr (std::is_integral_v<T>)
      *out.mutable_entries<T>() = static_cast<T>(integer_at(t));
    else if constexpr (std::is_floating_point_v<T>)
      *out.mutable_entries<T>() = static_cast<T>(number_at(t));
  });
  return out;
}

}  // namespace

Dims RowsToPad::dims_of_batch(const Padding& padding) const {
  Dims dims = views_[0].dims;
  for (const View& v : views_) {
    if (v.dims.rank() != dims.rank()) {
      throw Error(Code::invalid_argument, "elements of one batch have different ranks: " +
                                              dims.text() + " and " + v.dims.text());
    }
    for (int i = 0; i < dims.rank(); ++i) dims[i] = std::max(dims[i], v.dims[i]);
  }
  if (padding.shape.has_rank() && padding.shape.rank() != dims.rank()) {
    throw Error(Code::invalid_argument, "padded_shapes has rank " +
                                            std::to_string(padding.shape.rank()) +
                                            ", an element has shape " + dims.text());
  }
  for (int i = 0; i < dims.rank() && padding.shape.has_rank(); ++i) {
    if (padding.shape[i] < 0) continue;
    if (dims[i] > padding.shape[i]) {
      throw Error(Code::data_loss, "an element of shape " + dims.text() +
                                       " does not fit the padded shape " + padding.shape.text());
    }
    dims[i] = padding.shape[i];
  }
  return dims;
}

void RowsToPad::keep_strings(BufferRef* buffer) const {
  for (const Column& run : runs_)
    for (int64_t i = 0; i < run.rows(); ++i) buffer->keep(run.row(i).buffer());
  for (const Tensor& row : rows_) buffer->keep(row.buffer());
}

Tensor RowsToPad::pad(const Padding& padding) {
  const DType dtype = padding.value.dtype();
  views_.clear();
  for (const Column& run : runs_)
    for (int64_t i = 0; i < run.rows(); ++i) views_.push_back({run.dims_of(i), run.row_data(i)});
  for (const Tensor& row : rows_) views_.push_back({row.dims(), row.data()});
  const Dims dims = dims_of_batch(padding);
  Tensor out = Tensor::make(dtype, dims.with_front(count_));
  if (dtype == DType::bytes) {
    out.mutable_buffer().keep(padding.value.buffer());
    keep_strings(&out.mutable_buffer());
  }
  std::byte* to = out.mutable_data();
  const int64_t each = dims.entries() * dtype_size(dtype);
  for (const View& v : views_) {
    place_row(v.data, v.dims, to, dims, padding.value);
    to += each;
  }
  return out;
}

Column RowsToPad::take() {
  ColumnBuilder out;
  for (const Column& run : runs_) out.append(run);
  for (Tensor& row : rows_) out.append(Column::constant(std::move(row), 1));
  const int64_t n = count_;
  clear();
  return out.take(n);
}

void RowsToPad::clear() {
  runs_.clear();
  rows_.clear();
  count_ = 0;
}

void pad_components(std::span<RowsToPad> rows, std::span<const Padding> paddings, Block* out) {
  struct LetGo {
    std::span<RowsToPad> rows;
    ~LetGo() {
      for (RowsToPad& r : rows) r.clear();
    }
  } const let_go{rows};
  for (size_t c = 0; c < rows.size(); ++c)
    out->columns.push_back(Column::constant(rows[c].pad(paddings[c]), 1));
}

std::vector<Padding> read_paddings(const PlanNode& input, const Attr& shapes, const Attr& values) {
  const std::vector<LeafSpec> leaves = input.spec.leaves();
  std::vector<Attr> shape_of, value_of;
  try {
    per_leaf(shapes, input.spec, is_shape, &shape_of);
  } catch (const Error& e) {
    NodeDraft::fail("padded_shapes", e.message());
  }
  std::vector<Padding> out;
  try {
    per_leaf(values, input.spec, [](const Attr& a) { return a.is_tensor(); }, &value_of);
    for (size_t i = 0; i < leaves.size(); ++i)
      out.push_back({Shape::unknown_rank(), padding_value(value_of[i], leaves[i])});
  } catch (const Error& e) {
    NodeDraft::fail("padding_values", e.message());
  }
  for (size_t i = 0; i < leaves.size(); ++i) {
    const Shape& known = leaves[i].shape;
    if (!leaves[i].is_tensor()) NodeDraft::fail("input", "only tensors can be padded");
    if (shape_of[i].is_none()) {
      if (!known.has_rank())
        NodeDraft::fail("padded_shapes", "is needed: the rank of a component is not known");
      out[i].shape = known;
      continue;
    }
    try {
      std::vector<int64_t> sizes = shape_of[i].as_ints();
      for (const int64_t s : sizes) {
        if (s < -1)
          NodeDraft::fail("padded_shapes", "a size must not be negative: " + std::to_string(s));
      }
      out[i].shape = Shape(std::move(sizes));
    } catch (const Error& e) {
      NodeDraft::fail("padded_shapes", e.message());
    }
    if (known.has_rank() && known.rank() != out[i].shape.rank()) {
      NodeDraft::fail("padded_shapes", "has rank " + std::to_string(out[i].shape.rank()) +
                                           ", an element has shape " + known.text());
    }
    for (int k = 0; k < out[i].shape.rank() && known.has_rank(); ++k) {
      if (out[i].shape[k] >= 0 && known[k] > out[i].shape[k]) {
        NodeDraft::fail("padded_shapes", "an element of shape " + known.text() + " does not fit " +
                                             out[i].shape.text());
      }
    }
  }
  return out;
}

}  // namespace penstock
