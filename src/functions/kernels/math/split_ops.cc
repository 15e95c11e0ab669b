// split_tensor, unstack, slice: tensors taken apart.

#include <algorithm>

#include "data/charged.h"
#include "functions/kernels/families.h"
#include "functions/kernels/math/shape_arguments.h"
#include "functions/kernels/math/strided.h"
#include "functions/kernels/op_def.h"

namespace penstock {
namespace {

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
      if (__builtin_add_overflow(total, sizes[i], &total))
        throw "a size is too large: " + std::to_string(sizes[i]);
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
    std::vector<int64_t> part = shape.sizes();  // bounded: axes
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

// -- unstack

Spec infer_unstack(const InferContext& context) {
  const LeafSpec& type = context.tensor(0);
  const Shape& shape = type.shape;
  if (!shape.has_rank()) context.fail(0, "has an unknown rank, so how many pieces is not known");
  const int axis = infer_axis(context, "axis", context.attrs["axis"].as_int(), shape.rank());
  if (shape[axis] < 0 || shape[axis] > 100'000)
    context.fail(0, "is " + type.text() + ": how many pieces must be known when it is built");
  std::vector<int64_t> sizes = shape.sizes();
  sizes.erase(sizes.begin() + axis);
  const Spec item = Spec::tensor(type.dtype, Shape(std::move(sizes)));
  return Spec::tuple(std::vector<Spec>(static_cast<size_t>(shape[axis]), item));
}

void unstack_row(const RowCall& call) {
  const Tensor& x = call.inputs[0];
  const int axis = row_axis("unstack", call.attrs["axis"].as_int(), x.dims().rank());
  if (x.dims()[axis] != static_cast<int64_t>(call.outputs.size()))
    fail_row("unstack", "shape " + x.dims().text() + " for " + std::to_string(call.outputs.size()) +
                            " pieces");
  const StridedView all = StridedView::of(x.dims());
  StridedView view;
  Dims dims;
  for (int i = 0; i < x.dims().rank(); ++i) {
    if (i == axis) continue;
    view.push_back(x.dims()[i], all.stride[static_cast<size_t>(i)]);
    dims.push_back(x.dims()[i]);
  }
  for (OutputSlot& slot : call.outputs) {
    set_strided(&slot, x, view, dims);
    view.first += all.stride[static_cast<size_t>(axis)];
  }
}

// -- slice

Spec infer_slice(const InferContext& context) {
  const LeafSpec& type = context.tensor(0);
  const Shape& shape = type.shape;
  for (int i = 1; i < 3; ++i) {
    const Shape& given = infer_integers(context, i, 1).shape;
    if (given.has_rank() && shape.has_rank() && given[0] >= 0 && given[0] != shape.rank())
      context.fail(i, "has " + std::to_string(given[0]) + " entries for " + type.text());
  }
  if (!shape.has_rank()) return Spec::tensor(type.dtype, shape);
  const std::vector<int64_t> begin = context.known_ints(1), size = context.known_ints(2);
  std::vector<int64_t> sizes(static_cast<size_t>(shape.rank()), Shape::kUnknown);
  for (size_t i = 0; i < size.size(); ++i) {
    const int64_t own = shape[static_cast<int>(i)];
    const bool inside = i < begin.size() && begin[i] >= 0 && begin[i] <= own;
    sizes[i] = size[i] >= 0 ? size[i] : inside ? own - begin[i] : Shape::kUnknown;
  }
  return Spec::tensor(type.dtype, Shape(std::move(sizes)));
}

void slice_row(const RowCall& call) {
  const Tensor& x = call.inputs[0];
  const ChargedVector<int64_t> begin = read_ints(call.inputs[1]), size = read_ints(call.inputs[2]);
  const int rank = x.dims().rank();
  if (begin.size() != static_cast<size_t>(rank) || size.size() != static_cast<size_t>(rank)) {
    fail_row("slice", "begin and size need " + std::to_string(rank) + " entries for shape " +
                          x.dims().text());
  }
  StridedView view = StridedView::of(x.dims());
  Dims dims;
  for (int i = 0; i < rank; ++i) {
    const auto a = static_cast<size_t>(i);
    const int64_t own = x.dims()[i];
    if (begin[a] < 0 || begin[a] > own)
      fail_row("slice", "begin " + std::to_string(begin[a]) + " is out of range for size " +
                            std::to_string(own));
    const int64_t n = size[a] == -1 ? own - begin[a] : size[a];
    if (n < 0 || n > own - begin[a])
      fail_row("slice", "size " + std::to_string(size[a]) + " from " + std::to_string(begin[a]) +
                            " is out of range for size " + std::to_string(own));
    view.size[a] = n;
    view.first += n > 0 ? begin[a] * view.stride[a] : 0;
    dims.push_back(n);
  }
  set_strided(&call.outputs[0], x, view, dims);
}

}  // namespace

void add_split_tensor_ops(OpRegistry* registry) {
  registry->add(
      op_def("split_tensor",
             "x in pieces along an axis: of these sizes (-1: the rest), or this many equal ones",
             {tensor_param("x"), required("sizes", Param::Kind::any), axis_param(0)}, infer_split,
             split_row, {"shape", 100, true}));
  registry->add(op_def("unstack", "the items of x along an axis as a tuple",
                       {tensor_param("x"), axis_param(0)}, infer_unstack, unstack_row,
                       {"shape", 100, true}));
  registry->add(op_def("slice",
                       "size entries of x from begin on along each axis; -1: all that follow",
                       {tensor_param("x"), tensor_param("begin"), tensor_param("size")},
                       infer_slice, slice_row, {"shape", 60, true}));
}

}  // namespace penstock
