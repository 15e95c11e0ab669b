// tile, repeat, roll: entries several times, or further on.

#include <algorithm>
#include <numeric>

#include "data/charged.h"
#include "data/checked_product.h"
#include "functions/kernels/families.h"
#include "functions/kernels/math/shape_arguments.h"
#include "functions/kernels/math/strided.h"
#include "functions/kernels/math/take_items.h"
#include "functions/kernels/op_def.h"

namespace penstock {
namespace {

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
    if (own >= 0) sizes[i] = checked_product({own, known[i]});
    if (sizes[i] >= kMostEntries)
      context.fail(1, "is too large for " + type.text() + ": " + std::to_string(known[i]));
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

// -- repeat

Spec infer_repeat(const InferContext& context) {
  const LeafSpec& type = context.tensor(0);
  const LeafSpec& repeats = infer_integers(context, 1, -1);
  if (repeats.shape.has_rank() && repeats.shape.rank() > 1)
    context.fail(1, "is " + repeats.text() + ", expected a number or one for each item");
  const std::vector<int64_t> known = context.known_ints(1);
  for (const int64_t n : known) {
    if (n < 0) context.fail(1, "holds a negative number: " + std::to_string(n));
  }
  const Attr& axis = context.attrs["axis"];
  if (axis.is_none()) return Spec::tensor(type.dtype, {Shape::kUnknown});
  if (!type.shape.has_rank()) return Spec::tensor(type.dtype, type.shape);
  std::vector<int64_t> sizes = type.shape.sizes();
  int64_t& size =
      sizes[static_cast<size_t>(infer_axis(context, "axis", axis.as_int(), type.shape.rank()))];
  const int64_t given =
      repeats.shape.has_rank() && repeats.shape.rank() == 1 ? repeats.shape[0] : 1;
  if (given > 1 && size >= 0 && given != size) {
    context.fail(
        1, "has " + std::to_string(given) + " entries for " + std::to_string(size) + " items");
  }
  size = Shape::kUnknown;
  return Spec::tensor(type.dtype, Shape(std::move(sizes)));
}

void repeat_row(const RowCall& call) {
  const bool flat = call.attrs["axis"].is_none();
  const Tensor& given = call.inputs[0];
  const Tensor x = flat ? given.reshaped({given.entries_count()}) : given;
  const int axis = flat ? 0 : row_axis("repeat", call.attrs["axis"].as_int(), x.dims().rank());
  const ChargedVector<int64_t> repeats = read_ints(call.inputs[1]);
  const int64_t size = x.dims()[axis];
  if (repeats.size() != 1 && repeats.size() != static_cast<size_t>(size)) {
    fail_row("repeat",
             std::to_string(repeats.size()) + " numbers for " + std::to_string(size) + " items");
  }
  ChargedVector<int64_t> at;
  at.reserve(static_cast<size_t>(size));
  for (int64_t i = 0; i < size; ++i) {
    const int64_t n = repeats[repeats.size() == 1 ? 0 : static_cast<size_t>(i)];
    if (n < 0) fail_row("repeat", "a number must not be negative: " + std::to_string(n));
    if (n > (int64_t{1} << 32) - static_cast<int64_t>(at.size()))
      fail_row("repeat", "the result is too large: " + std::to_string(n));
    at.insert(at.end(), static_cast<size_t>(n), i);
  }
  take_items(&call.outputs[0], x, axis, at);
}

// -- roll

std::vector<std::pair<int64_t, int64_t>> shifts_of(const Attrs& attrs) {
  const std::vector<int64_t> shift = attr_ints(attrs["shift"]), axis = attr_ints(attrs["axis"]);
  if (shift.size() != axis.size()) fail_row("roll", "shift and axis must have as many entries");
  std::vector<std::pair<int64_t, int64_t>> out;
  for (size_t i = 0; i < shift.size(); ++i) out.emplace_back(shift[i], axis[i]);
  return out;
}

Spec infer_roll(const InferContext& context) {
  const LeafSpec& type = context.tensor(0);
  try {
    for (const auto& [shift, axis] : shifts_of(context.attrs)) {
      if (type.shape.has_rank()) infer_axis(context, "axis", axis, type.shape.rank());
    }
  } catch (const Error& e) {
    throw TypeError{-1, "shift", "does not fit: " + e.message()};
  }
  return Spec::tensor(type.dtype, type.shape);
}

void roll_row(const RowCall& call) {
  Tensor x = call.inputs[0];
  for (const auto& [shift, given] : shifts_of(call.attrs)) {
    const int axis = row_axis("roll", given, x.dims().rank());
    const int64_t size = x.dims()[axis];
    if (size == 0) continue;
    ChargedVector<int64_t> at(static_cast<size_t>(size));
    std::iota(at.begin(), at.end(), 0);
    const int64_t first = (size - shift % size) % size;  // the entry that comes to the front
    std::ranges::rotate(at, at.begin() + first);
    Tensor rolled;
    OutputSlot slot(x.dtype(), &rolled);
    take_items(&slot, x, axis, at);
    x = std::move(rolled);
  }
  call.outputs[0].set(std::move(x));
}

}  // namespace

void add_repeat_ops(OpRegistry* registry) {
  registry->add(op_def("tile", "x repeated so many times along each axis",
                       {tensor_param("x"), tensor_param("multiples")}, infer_tile, tile_row,
                       {"shape", 100, true}));
  registry->add(op_def(
      "repeat",
      "each item along an axis so many times, one number for all or one for each; "
      "without axis of the entries in a row",
      {tensor_param("x"), tensor_param("repeats"), optional("axis", Param::Kind::integer, {})},
      infer_repeat, repeat_row, {"shape", 100, true}));
  registry->add(op_def("roll", "x moved on along axes; what falls off comes in at the other end",
                       {tensor_param("x"), required("shift", Param::Kind::any),
                        optional("axis", Param::Kind::any, Attr::integer(0))},
                       infer_roll, roll_row, {"shape", 100, true}));
}

}  // namespace penstock
