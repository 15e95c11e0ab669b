// pad: entries around a tensor.

#include <algorithm>
#include <cstring>

#include "data/charged.h"
#include "data/checked_product.h"
#include "functions/kernels/families.h"
#include "functions/kernels/math/convert.h"
#include "functions/kernels/math/shape_arguments.h"
#include "functions/kernels/math/strided.h"
#include "functions/kernels/math/take_items.h"
#include "functions/kernels/op_def.h"

namespace penstock {
namespace {

// How far beyond an end a mode reaches, for an axis of this size.
int64_t reach(const std::string& mode, int64_t size) {
  return mode == "reflect" ? std::max<int64_t>(size - 1, 0) : size;
}

Spec infer_pad(const InferContext& context) {
  const std::string mode = context.attrs["mode"].as_string();
  if (mode != "constant" && mode != "reflect" && mode != "symmetric") {
    throw TypeError{-1, "mode",
                    "is \"" + mode + "\", expected \"constant\", \"reflect\" or \"symmetric\""};
  }
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
    if (std::max(known[2 * i], known[2 * i + 1]) > kMostEntries)
      context.fail(1, "is " + std::to_string(std::max(known[2 * i], known[2 * i + 1])) +
                          " wide, which is too large");
    if (own >= 0) sizes[i] = known[2 * i] + own + known[2 * i + 1];
    if (own >= 0 && mode != "constant" &&
        std::max(known[2 * i], known[2 * i + 1]) > reach(mode, own))
      context.fail(1, "reaches further than a " + mode + " padding of " + type.text() + " can");
  }
  return Spec::tensor(type.dtype, Shape(std::move(sizes)));
}

// Entries mirrored at the ends, axis by axis; symmetric ones repeat the entry at the end.
void pad_mirrored(const RowCall& call, const std::string& mode, const Tensor& paddings) {
  Tensor x = call.inputs[0];
  for (int axis = 0; axis < x.dims().rank(); ++axis) {
    const int64_t front = integer_at(paddings, 2 * axis), back = integer_at(paddings, 2 * axis + 1);
    const int64_t size = x.dims()[axis], furthest = std::max(front, back);
    if (furthest > reach(mode, size)) {
      fail_row("pad", "a " + mode + " padding of " + std::to_string(furthest) +
                          " is too wide for size " + std::to_string(size));
    }
    const int64_t skip = mode == "reflect" ? 1 : 0;
    ChargedVector<int64_t> at;
    for (int64_t i = -front; i < size + back; ++i) {
      at.push_back(i < 0 ? -i - 1 + skip : i >= size ? 2 * size - 1 - skip - i : i);
    }
    Tensor wider;
    OutputSlot slot(x.dtype(), &wider);
    take_items(&slot, x, axis, at);
    x = std::move(wider);
  }
  call.outputs[0].set(std::move(x));
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
  const std::string mode = call.attrs["mode"].as_string();
  if (mode != "constant") return pad_mirrored(call, mode, paddings);
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

}  // namespace

void add_pad_op(OpRegistry* registry) {
  OpDef op =
      op_def("pad",
             "x with [before, after] entries around each axis: a value, or x mirrored with mode "
             "\"reflect\" (without the entry at the end) or \"symmetric\" (with it)",
             {tensor_param("x"), tensor_param("paddings"),
              optional("value", Param::Kind::tensor, Attr::integer(0)),
              option("mode", Param::Kind::text, Attr::text("constant"))},
             infer_pad, pad_row, {"shape", 100, true});
  op.literal_as_first = 2;
  registry->add(std::move(op));
}

}  // namespace penstock
