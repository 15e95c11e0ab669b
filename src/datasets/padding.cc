#include "datasets/padding.h"

#include <algorithm>

#include "data/ragged.h"
#include "datasets/stacking.h"
#include "runtime/open.h"

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
  return a.kind() == Attr::Kind::list || a.is_capture();
}

// A captured size or shape: known when the pipeline is opened.
void check_captured_sizes(const LeafSpec& type, int rank) {
  const bool ranks = !type.shape.has_rank() || type.shape.rank() == rank;
  if (type.is_tensor() && is_integer(type.dtype) && ranks) return;
  throw Error(Code::invalid_argument,
              "is " + type.text() + ", expected " +
                  (rank == 0 ? "an integer for each size" : "a vector of integers"));
}

// A shape for an element of shape `known`; -1 for sizes that are open or captured.
Shape given_shape(const Attr& a, const Shape& known) {
  if (a.is_capture()) {
    const LeafSpec& type = a.capture_type();
    check_captured_sizes(type, 1);
    if (type.shape.has_rank() && type.shape[0] >= 0 && type.shape[0] <= kMaxRank)
      return Shape::of_rank(static_cast<int>(type.shape[0]));
    return known.has_rank() ? Shape::of_rank(known.rank()) : known;
  }
  if (a.has_capture()) {
    std::vector<int64_t> sizes;
    for (const Attr& item : a.items()) {
      if (item.is_capture()) check_captured_sizes(item.capture_type(), 0);
      sizes.push_back(item.is_capture() || item.is_none() ? Shape::kUnknown : item.as_int());
    }
    return Shape(std::move(sizes));
  }
  return Shape(a.as_ints());
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
  if (given.is_capture()) {  // stands for itself until the pipeline is opened
    const LeafSpec& type = given.capture_type();
    const bool scalar = !type.shape.has_rank() || type.shape.is_scalar();
    if (!type.is_tensor() || !scalar || type.dtype != leaf.dtype) {
      throw Error(Code::invalid_argument,
                  "is " + type.text() + ", the component is " + leaf.text());
    }
    return padding_value({}, leaf);
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

// What keeps an element of these sizes out of the padded shape; null if it fits.
ErrorPtr misfit(const Dims& dims, const Shape& shape) {
  if (dims.rank() != shape.rank()) {
    return std::make_shared<const Error>(Code::invalid_argument,
                                         "padded_shapes has rank " + std::to_string(shape.rank()) +
                                             ", an element has shape " + dims.text());
  }
  for (int i = 0; i < dims.rank(); ++i) {
    if (shape[i] >= 0 && dims[i] > shape[i]) {
      return std::make_shared<const Error>(
          Code::data_loss,
          "an element of shape " + dims.text() + " does not fit the padded shape " + shape.text());
    }
  }
  return nullptr;
}

}  // namespace

PaddingCheck::PaddingCheck(const std::vector<LeafSpec>& leaves, std::span<const Padding> paddings) {
  for (size_t c = 0; c < leaves.size(); ++c) {
    const Shape &known = leaves[c].shape, &padded = paddings[c].shape;
    bool fits = known.has_rank() && known.rank() == padded.rank();
    for (int i = 0; fits && i < padded.rank(); ++i)
      fits = padded[i] < 0 || (known[i] >= 0 && known[i] <= padded[i]);
    if (!fits) looked_at_.push_back({c, padded});
  }
}

ErrorPtr PaddingCheck::check(const Block& rows, int64_t row) const {
  for (const Component& c : looked_at_) {
    if (ErrorPtr error = misfit(rows.columns[c.column].dims_of(row), c.shape)) return error;
  }
  return nullptr;
}

void PaddingCheck::apply(Block* rows) const {
  for (const Component& c : looked_at_) {
    const Column& column = rows->columns[c.column];
    const bool uniform =
        column.kind() == Column::Kind::dense || column.kind() == Column::Kind::constant;
    if (uniform && !misfit(column.dims_of(0), c.shape)) continue;
    for (int64_t row = 0; row < rows->rows; ++row) {
      if (rows->error_at(row)) continue;
      if (ErrorPtr error = misfit(column.dims_of(row), c.shape))
        add_row_error(row, std::move(error), &rows->errors);
    }
  }
}

Dims RowsToPad::dims_of_batch(const Padding& padding) const {
  const Shape& shape = padding.shape;
  PENSTOCK_CHECK(shape.has_rank());
  Dims dims;
  for (int i = 0; i < shape.rank(); ++i) dims.push_back(std::max<int64_t>(0, shape[i]));
  for (const View& v : views_) {
    PENSTOCK_CHECK(!misfit(v.dims, shape));
    for (int i = 0; i < dims.rank(); ++i) {
      if (shape[i] < 0) dims[i] = std::max(dims[i], v.dims[i]);
    }
  }
  return Dims(dims.sizes());  // which checks their product
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

void RowsToPad::keep(std::span<const int32_t> rows) {
  PENSTOCK_CHECK(runs_.empty());
  std::vector<Tensor> kept;
  for (const int32_t row : rows) kept.push_back(std::move(rows_[static_cast<size_t>(row)]));
  rows_ = std::move(kept);
  count_ = std::ssize(rows_);
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
    per_leaf(
        values, input.spec, [](const Attr& a) { return a.is_tensor() || a.is_capture(); },
        &value_of);
    for (size_t i = 0; i < leaves.size(); ++i)
      out.push_back({Shape::unknown_rank(), padding_value(value_of[i], leaves[i])});
  } catch (const Error& e) {
    NodeDraft::fail("padding_values", e.message());
  }
  for (size_t i = 0; i < leaves.size(); ++i) {
    const Shape& known = leaves[i].shape;
    if (!is_dense(leaves[i])) {
      std::string remedy;
      if (leaves[i].kind == LeafSpec::Kind::optional) remedy = "; get_value(x) takes a value out";
      if (leaves[i].kind == LeafSpec::Kind::ragged || leaves[i].kind == LeafSpec::Kind::sparse)
        remedy = "; to_tensor(x) makes it dense";
      NodeDraft::fail(
          "input", "only dense tensors can be padded, a component is " + leaves[i].text() + remedy);
    }
    if (shape_of[i].is_none()) {
      if (!known.has_rank())
        NodeDraft::fail("padded_shapes", "is needed: the rank of a component is not known");
      out[i].shape = known;
      continue;
    }
    try {
      out[i].shape = given_shape(shape_of[i], known);
      for (const int64_t s : out[i].shape.sizes()) {
        if (s < -1)
          NodeDraft::fail("padded_shapes", "a size must not be negative: " + std::to_string(s));
      }
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

std::vector<Padding> open_paddings(const OpenContext& context, const PlanNode& node) {
  try {
    return read_paddings(*node.inputs[0], context.arg(node, "padded_shapes"),
                         context.arg(node, "padding_values"));
  } catch (const ArgumentError& e) {  // of a captured value: the others were checked by infer
    throw Error(e.code, e.param + ": " + e.message);
  }
}

}  // namespace penstock
