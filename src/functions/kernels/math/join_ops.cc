// Tensors put together and taken apart: concat, stack, split_tensor, tile, pad.

#include <algorithm>
#include <cstring>

#include "functions/kernels/families.h"
#include "functions/kernels/math/convert.h"
#include "functions/kernels/math/promotion.h"
#include "functions/kernels/math/shape_arguments.h"
#include "functions/kernels/math/strided.h"

namespace penstock {
namespace {

// The dtype all inputs meet in.
DType infer_joined_dtype(const InferContext& context) {
  if (context.inputs.empty()) context.fail("needs a tensor");
  DType out = context.tensor(0).dtype;
  for (int i = 1; i < static_cast<int>(context.inputs.size()); ++i) {
    const auto wider = promote(out, context.tensor(i).dtype);
    if (!wider) {
      context.fail(i, "is " + std::string(dtype_name(context.tensor(i).dtype)) + ", another is " +
                          std::string(dtype_name(out)) + ": cast one");
    }
    out = *wider;
  }
  return out;
}

// Inputs side by side along the axis after `outer` blocks: piece i is `chunks[i]` bytes of each
// block.
struct Piece {
  const std::byte* data;
  int64_t chunk;
};
void interleave(std::span<const Piece> pieces, int64_t outer, std::byte* out) {
  for (int64_t o = 0; o < outer; ++o) {
    for (const Piece& p : pieces) {
      if (p.chunk > 0) std::memcpy(out, p.data + o * p.chunk, static_cast<size_t>(p.chunk));
      out += p.chunk;
    }
  }
}

int64_t product(const Dims& dims, int begin, int end) {
  int64_t n = 1;
  for (int i = begin; i < end; ++i) n *= dims[i];
  return n;
}

Shape infer_concat_shape(const InferContext& context) {
  int rank = -1;
  for (int i = 0; i < static_cast<int>(context.inputs.size()); ++i) {
    const Shape& s = context.tensor(i).shape;
    if (!s.has_rank()) continue;
    if (s.rank() == 0) context.fail(i, "is a scalar: stack joins scalars");
    if (rank >= 0 && s.rank() != rank) {
      context.fail(i, "has shape " + s.text() + ", another rank " + std::to_string(rank));
    }
    rank = s.rank();
  }
  if (rank < 0) return Shape::unknown_rank();
  const int axis = infer_axis(context, "axis", context.attrs["axis"].as_int(), rank);
  std::vector<int64_t> sizes(static_cast<size_t>(rank), Shape::kUnknown);
  int64_t total = 0;
  for (int i = 0; i < static_cast<int>(context.inputs.size()); ++i) {
    const Shape& s = context.tensor(i).shape;
    const int64_t own = s.has_rank() ? s[axis] : Shape::kUnknown;
    total = total < 0 || own < 0 ? -1 : total + own;
    for (int k = 0; s.has_rank() && k < rank; ++k) {
      int64_t& size = sizes[static_cast<size_t>(k)];
      if (k == axis || s[k] == Shape::kUnknown) continue;
      if (size != Shape::kUnknown && size != s[k]) {
        context.fail(i, "has shape " + s.text() + ", another is " + std::to_string(size) +
                            " along axis " + std::to_string(k));
      }
      size = s[k];
    }
  }
  sizes[static_cast<size_t>(axis)] = total;
  return Shape(std::move(sizes));
}

Spec infer_concat(const InferContext& context) {
  const DType dtype = infer_joined_dtype(context);
  return Spec::tensor(dtype, infer_concat_shape(context));
}

void set_joined(const RowCall& call, const std::vector<Tensor>& inputs, const Dims& dims,
                int axis) {
  OutputSlot& slot = call.outputs[0];
  check_size("concat", dims, slot.dtype());
  std::vector<Piece> pieces;
  const int64_t outer = product(dims, 0, axis);
  for (const Tensor& t : inputs)
    pieces.push_back({t.data(), outer == 0 ? 0 : t.data_bytes() / outer});
  interleave(pieces, outer, slot.allocate(dims));
  for (const Tensor& t : inputs) share_strings(&slot, t);
}

std::vector<Tensor> same_dtype(const RowCall& call) {
  std::vector<Tensor> out;
  const DType dtype = call.outputs[0].dtype();
  for (const Tensor& t : call.inputs) out.push_back(t.dtype() == dtype ? t : converted(t, dtype));
  return out;
}

void concat_row(const RowCall& call) {
  Dims dims = call.inputs[0].dims();
  if (dims.rank() == 0) fail_row("concat", "a scalar has no axis to join along");
  const int axis = row_axis("concat", call.attrs["axis"].as_int(), dims.rank());
  for (size_t i = 1; i < call.inputs.size(); ++i) {
    const Dims& other = call.inputs[i].dims();
    bool same = other.rank() == dims.rank();
    for (int k = 0; same && k < dims.rank(); ++k) same = k == axis || other[k] == dims[k];
    if (!same) {
      fail_row("concat", "shapes " + call.inputs[0].dims().text() + " and " + other.text() +
                             " differ outside axis " + std::to_string(axis));
    }
    dims[axis] += other[axis];
  }
  set_joined(call, same_dtype(call), dims, axis);
}

Spec infer_stack(const InferContext& context) {
  const DType dtype = infer_joined_dtype(context);
  Shape item = Shape::unknown_rank();
  for (int i = 0; i < static_cast<int>(context.inputs.size()); ++i) {
    const Shape& s = context.tensor(i).shape;
    if (!s.has_rank()) continue;
    if (!item.has_rank()) {
      item = s;
      continue;
    }
    std::vector<int64_t> sizes = item.sizes();
    bool same = s.rank() == item.rank();
    for (int k = 0; same && k < item.rank(); ++k) {
      int64_t& size = sizes[static_cast<size_t>(k)];
      same = size == s[k] || size == Shape::kUnknown || s[k] == Shape::kUnknown;
      if (size == Shape::kUnknown) size = s[k];
    }
    if (!same)
      context.fail(i, "has shape " + s.text() + ", another " + item.text() + ": shapes must agree");
    item = Shape(std::move(sizes));
  }
  if (!item.has_rank()) return Spec::tensor(dtype, Shape::unknown_rank());
  if (item.rank() == kMaxRank) context.fail(0, "has 8 axes already");
  const int axis = infer_axis(context, "axis", context.attrs["axis"].as_int(), item.rank() + 1);
  std::vector<int64_t> sizes = item.sizes();
  sizes.insert(sizes.begin() + axis, static_cast<int64_t>(context.inputs.size()));
  return Spec::tensor(dtype, Shape(std::move(sizes)));
}

Dims stacked_dims(const Dims& item, int axis, size_t count) {
  Dims out;
  for (int k = 0; k <= item.rank(); ++k) {
    out.push_back(k < axis ? item[k] : k == axis ? static_cast<int64_t>(count) : item[k - 1]);
  }
  return out;
}

void stack_row(const RowCall& call) {
  const Dims& item = call.inputs[0].dims();
  const int axis = row_axis("stack", call.attrs["axis"].as_int(), item.rank() + 1);
  for (const Tensor& t : call.inputs) {
    if (!(t.dims() == item))
      fail_row("stack", "shapes " + item.text() + " and " + t.dims().text() + " differ");
  }
  set_joined(call, same_dtype(call), stacked_dims(item, axis, call.inputs.size()), axis);
}

// Dense and constant columns of one dtype: rows are one more axis in front of the joined one.
bool stack_block(const BlockCall& call) {
  const Dims& item = call.inputs[0].row_dims();
  const DType dtype = call.output_dtypes[0];
  for (const Column& c : call.inputs) {
    if (c.kind() != Column::Kind::dense && c.kind() != Column::Kind::constant) return false;
    if (c.dtype() != dtype || !(c.row_dims() == item)) return false;
  }
  const int64_t a = call.attrs["axis"].as_int();
  if (a < -item.rank() - 1 || a > item.rank() || call.rows == 0) return false;
  const int axis = static_cast<int>(a < 0 ? a + item.rank() + 1 : a);
  Column out = Column::dense(dtype, stacked_dims(item, axis, call.inputs.size()), call.rows);
  std::vector<Column> columns;
  std::vector<Piece> pieces;
  const int64_t outer = product(item, 0, axis);
  for (const Column& c : call.inputs) {
    columns.push_back(c.expanded());
    pieces.push_back({columns.back().data(), outer == 0 ? 0 : c.row_bytes() / outer});
    share_strings(&out.mutable_buffer(), c.buffer(), dtype);
  }
  interleave(pieces, outer * call.rows, out.mutable_data());
  call.outputs[0] = std::move(out);
  return true;
}

// -- split_tensor

// The pieces' sizes along an axis of `size` (-1: unknown); throws a message.
std::vector<int64_t> piece_sizes(const Attr& attr, int64_t size) {
  if (attr.is_tensor() && attr.tensor().dims().rank() == 0) {
    const int64_t count = attr.as_int();
    if (count < 1 || count > 100'000)
      throw std::string("the number of pieces must be positive: " + std::to_string(count));
    if (size >= 0 && size % count != 0) {
      throw "size " + std::to_string(size) + " does not divide into " + std::to_string(count) +
          " pieces";
    }
    return std::vector<int64_t>(static_cast<size_t>(count), size < 0 ? -1 : size / count);
  }
  std::vector<int64_t> sizes = attr.as_ints();
  int64_t total = 0, free = -1;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] < -1) throw "a size must not be negative: " + std::to_string(sizes[i]);
    if (sizes[i] >= 0) {
      total += sizes[i];
    } else if (free >= 0) {
      throw std::string("-1 stands twice among the sizes");
    } else {
      free = static_cast<int64_t>(i);
    }
  }
  if (size < 0) return sizes;
  if (free >= 0 ? total > size : total != size) {
    throw "the sizes add up to " + std::to_string(total) + ", the axis has " + std::to_string(size);
  }
  if (free >= 0) sizes[static_cast<size_t>(free)] = size - total;
  return sizes;
}

Spec infer_split(const InferContext& context) {
  const LeafSpec& type = context.tensor(0);
  const Shape& shape = type.shape;
  const int64_t given = context.attrs["axis"].as_int();
  int axis = -1;
  if (shape.has_rank()) axis = infer_axis(context, "axis", given, shape.rank());
  std::vector<int64_t> sizes;
  try {
    sizes = piece_sizes(context.attrs["sizes"], axis < 0 ? -1 : shape[axis]);
  } catch (const std::string& what) {
    throw TypeError{-1, "sizes", "do not fit: " + what};
  } catch (const Error& e) {
    throw TypeError{-1, "sizes", e.message()};
  }
  std::vector<Spec> items;
  for (const int64_t size : sizes) {
    if (axis < 0) {
      items.push_back(Spec::tensor(type.dtype, shape));
      continue;
    }
    std::vector<int64_t> part = shape.sizes();
    part[static_cast<size_t>(axis)] = size;
    items.push_back(Spec::tensor(type.dtype, Shape(std::move(part))));
  }
  return Spec::tuple(std::move(items));
}

void split_row(const RowCall& call) {
  const Tensor& x = call.inputs[0];
  const int axis = row_axis("split_tensor", call.attrs["axis"].as_int(), x.dims().rank());
  std::vector<int64_t> sizes;
  try {
    sizes = piece_sizes(call.attrs["sizes"], x.dims()[axis]);
  } catch (const std::string& what) {
    fail_row("split_tensor", what);
  }
  StridedView view = StridedView::of(x.dims());
  Dims dims = x.dims();
  const auto a = static_cast<size_t>(axis);
  for (size_t i = 0; i < sizes.size(); ++i) {
    view.size[a] = dims[axis] = sizes[i];
    set_strided(&call.outputs[i], x, view, dims);
    view.first += sizes[i] * view.stride[a];
  }
}

// -- tile, pad

Spec infer_tile(const InferContext& context) {
  const LeafSpec& type = context.tensor(0);
  const LeafSpec& multiples = infer_integers(context, 1, 1);
  const Shape& shape = type.shape;
  const int64_t length = multiples.shape.has_rank() ? multiples.shape[0] : Shape::kUnknown;
  if (shape.has_rank() && length >= 0 && length != shape.rank()) {
    context.fail(1, "has " + std::to_string(length) + " entries for " + type.text());
  }
  const int64_t rank = shape.has_rank() ? shape.rank() : length;
  if (rank < 0 || rank > kMaxRank) return Spec::tensor(type.dtype, Shape::unknown_rank());
  const std::vector<int64_t> known = context.known_ints(1);
  std::vector<int64_t> sizes(static_cast<size_t>(rank), Shape::kUnknown);
  for (size_t i = 0; i < known.size(); ++i) {
    if (known[i] < 0) context.fail(1, "holds a negative number: " + std::to_string(known[i]));
    const int64_t own = shape.has_rank() ? shape[static_cast<int>(i)] : Shape::kUnknown;
    if (own >= 0) sizes[i] = own * known[i];
  }
  return Spec::tensor(type.dtype, Shape(std::move(sizes)));
}

void tile_row(const RowCall& call) {
  const Tensor &x = call.inputs[0], &multiples = call.inputs[1];
  if (multiples.dims().rank() != 1 || multiples.entries_count() != x.dims().rank()) {
    fail_row("tile",
             "multiples of shape " + multiples.dims().text() + " for shape " + x.dims().text());
  }
  const StridedView all = StridedView::of(x.dims());
  StridedView view;
  Dims dims;
  for (int i = 0; i < x.dims().rank(); ++i) {
    const int64_t m = integer_at(multiples, i), size = x.dims()[i];
    if (m < 0) fail_row("tile", "a multiple must not be negative: " + std::to_string(m));
    if (m > 0 && size > (int64_t{1} << 46) / m)
      fail_row("tile", "the result is too large: " + std::to_string(m));
    view.push_back(m, 0);
    view.push_back(size, all.stride[static_cast<size_t>(i)]);
    dims.push_back(m * size);
  }
  check_size("tile", dims, x.dtype());
  set_strided(&call.outputs[0], x, view, dims);
}

Spec infer_pad(const InferContext& context) {
  const LeafSpec& type = context.tensor(0);
  const LeafSpec& paddings = infer_integers(context, 1, 2);
  const LeafSpec& value = context.tensor(2);
  context.check_rank(2, 0);
  if (value.dtype != type.dtype && !(is_number(value.dtype) && is_number(type.dtype))) {
    context.fail(
        2, "is " + value.text() + ", the padded tensor " + std::string(dtype_name(type.dtype)));
  }
  const Shape &shape = type.shape, &table = paddings.shape;
  const int64_t rows = table.has_rank() ? table[0] : Shape::kUnknown;
  if (table.has_rank() && table[1] != 2 && table[1] != Shape::kUnknown) {
    context.fail(1, "is " + paddings.text() + ", expected [before, after] for each axis");
  }
  if (shape.has_rank() && rows >= 0 && rows != shape.rank()) {
    context.fail(1, "has " + std::to_string(rows) + " rows for " + type.text());
  }
  const int64_t rank = shape.has_rank() ? shape.rank() : rows;
  if (rank < 0 || rank > kMaxRank) return Spec::tensor(type.dtype, Shape::unknown_rank());
  const std::vector<int64_t> known = context.known_ints(1);
  std::vector<int64_t> sizes(static_cast<size_t>(rank), Shape::kUnknown);
  for (size_t i = 0; i * 2 + 1 < known.size() && i < sizes.size(); ++i) {
    if (known[2 * i] < 0 || known[2 * i + 1] < 0) context.fail(1, "holds a negative number");
    const int64_t own = shape.has_rank() ? shape[static_cast<int>(i)] : Shape::kUnknown;
    if (own >= 0) sizes[i] = known[2 * i] + own + known[2 * i + 1];
  }
  return Spec::tensor(type.dtype, Shape(std::move(sizes)));
}

void pad_row(const RowCall& call) {
  const Tensor &x = call.inputs[0], &paddings = call.inputs[1];
  OutputSlot& slot = call.outputs[0];
  const int rank = x.dims().rank();
  const Dims& table = paddings.dims();
  if (table.rank() != 2 || table[0] != rank || (table[1] != 2 && rank > 0)) {
    fail_row("pad", "paddings of shape " + table.text() + " for shape " + x.dims().text());
  }
  Dims dims;
  std::array<int64_t, kMaxRank> before{};
  for (int i = 0; i < rank; ++i) {
    const int64_t front = integer_at(paddings, 2 * i), back = integer_at(paddings, 2 * i + 1);
    if (front < 0 || back < 0)
      fail_row("pad", "a padding must not be negative: " + std::to_string(std::min(front, back)));
    if (front > (int64_t{1} << 46) || back > (int64_t{1} << 46))
      fail_row("pad", "the result is too large");
    before[static_cast<size_t>(i)] = front;
    dims.push_back(front + x.dims()[i] + back);
  }
  check_size("pad", dims, slot.dtype());
  const Tensor value = call.inputs[2].dtype() == slot.dtype()
                           ? call.inputs[2]
                           : converted(call.inputs[2], slot.dtype());
  if (value.dims().rank() != 0)
    fail_row("pad", "the value must be a scalar, got shape " + value.dims().text());
  const int64_t entry = dtype_size(slot.dtype());
  std::byte* out = slot.allocate(dims);
  fill_entries(out, value.data(), entry, dims.entries());
  share_strings(&slot, x);
  share_strings(&slot, value);
  if (x.entries_count() == 0) return;
  // Runs along the last axis to where they belong.
  const StridedView to = StridedView::of(dims);
  const int64_t run = rank == 0 ? 1 : x.dims()[rank - 1];
  std::array<int64_t, kMaxRank> index{};
  const std::byte* from = x.data();
  for (;;) {
    int64_t at = 0;
    for (int i = 0; i < rank; ++i) {
      const auto a = static_cast<size_t>(i);
      at += (before[a] + index[a]) * to.stride[a];
    }
    std::memcpy(out + at * entry, from, static_cast<size_t>(run * entry));
    from += run * entry;
    int axis = rank - 2;
    for (; axis >= 0; --axis) {
      if (++index[static_cast<size_t>(axis)] < x.dims()[axis]) break;
      index[static_cast<size_t>(axis)] = 0;
    }
    if (axis < 0) return;
  }
}

OpDef join_op(std::string name, std::string doc, std::vector<Param> params,
              Spec (*infer)(const InferContext&), RowKernel row) {
  OpDef op;
  op.name = std::move(name);
  op.params = std::move(params);
  op.doc = std::move(doc);
  op.infer = infer;
  op.row = row;
  op.can_fail = true;
  op.cost_ns = 100;
  op.group = "shape";
  return op;
}

}  // namespace

void add_join_ops(OpRegistry* registry) {
  const auto axis = [] { return option("axis", Param::Kind::integer, Attr::integer(0)); };
  registry->add(join_op("concat", "tensors one after another along an axis",
                        {required("tensors", Param::Kind::tensors), axis()}, infer_concat,
                        concat_row));
  OpDef stack =
      join_op("stack", "tensors of one shape side by side along a new axis",
              {required("tensors", Param::Kind::tensors), axis()}, infer_stack, stack_row);
  stack.block = stack_block;
  registry->add(std::move(stack));
  registry->add(
      join_op("split_tensor",
              "x in pieces along an axis: of these sizes (-1: the rest), or this many equal ones",
              {required("x", Param::Kind::tensor), required("sizes", Param::Kind::any),
               optional("axis", Param::Kind::integer, Attr::integer(0))},
              infer_split, split_row));
  registry->add(
      join_op("tile", "x repeated so many times along each axis",
              {required("x", Param::Kind::tensor), required("multiples", Param::Kind::tensor)},
              infer_tile, tile_row));
  registry->add(
      join_op("pad", "x with [before, after] entries of a value around each axis",
              {required("x", Param::Kind::tensor), required("paddings", Param::Kind::tensor),
               optional("value", Param::Kind::tensor, Attr::integer(0))},
              infer_pad, pad_row));
}

}  // namespace penstock
