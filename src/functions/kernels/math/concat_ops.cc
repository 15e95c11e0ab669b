// concat, stack: tensors put together.

#include <algorithm>
#include <cstring>

#include "functions/kernels/families.h"
#include "functions/kernels/math/convert.h"
#include "functions/kernels/math/promotion.h"
#include "functions/kernels/math/shape_arguments.h"
#include "functions/kernels/op_def.h"

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
  set_joined(call, same_dtype(call), Dims(dims.sizes()), axis);
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

// Entries of vectors one after another; of a part whose size alone is known, unknown ones.
std::vector<int64_t> joined_entries(std::span<const KnownEntries> inputs, bool scalars) {
  std::vector<int64_t> out;  // bounded: written in the pipeline
  for (const KnownEntries& part : inputs) {
    std::vector<int64_t> entries = part.entries;  // bounded: as `out`
    const Shape& shape = part.type.shape;
    if (entries.empty() && scalars && shape.is_scalar()) entries = {-1};
    if (entries.empty() && shape.has_rank() && shape.rank() == 1 && shape[0] >= 0)
      entries.assign(static_cast<size_t>(shape[0]), -1);
    if (entries.empty()) return {};
    out.insert(out.end(), entries.begin(), entries.end());
  }
  return out;
}

}  // namespace

void add_concat_ops(OpRegistry* registry) {
  const auto params = [] {
    return std::vector<Param>{required("tensors", Param::Kind::tensors),
                              option("axis", Param::Kind::integer, Attr::integer(0))};
  };
  OpDef concat = op_def("concat", "tensors one after another along an axis", params(), infer_concat,
                        concat_row, {"shape", 100, true});
  concat.literals_from = 0;
  concat.known_entries = [](std::span<const KnownEntries> inputs) {
    return joined_entries(inputs, false);
  };
  registry->add(std::move(concat));
  OpDef stack = op_def("stack", "tensors of one shape side by side along a new axis", params(),
                       infer_stack, stack_row, {"shape", 100, true});
  stack.block = stack_block;
  stack.literals_from = 0;
  stack.known_entries = [](std::span<const KnownEntries> inputs) {
    return joined_entries(inputs, true);
  };
  registry->add(std::move(stack));
}

}  // namespace penstock
