// Shapes of tensors, and the same entries in other shapes and orders.

#include <algorithm>

#include "data/checked_product.h"
#include "functions/kernels/families.h"
#include "functions/kernels/math/broadcast.h"
#include "functions/kernels/math/shape_arguments.h"
#include "functions/kernels/math/strided.h"

namespace penstock {
namespace {

void shape_row(const RowCall& call) {
  const Dims& dims = call.inputs[0].dims();
  auto* out = call.outputs[0].allocate_as<int64_t>({dims.rank()});
  std::ranges::copy(dims.sizes(), out);
}

bool shape_block(const BlockCall& call) {
  const Column& x = call.inputs[0];
  if (x.kind() != Column::Kind::dense && x.kind() != Column::Kind::constant) return false;
  call.outputs[0] = Column::constant(Tensor::vector<int64_t>(x.row_dims().sizes()), call.rows);
  return true;
}

void size_row(const RowCall& call) {
  *call.outputs[0].allocate_as<int64_t>({}) = call.inputs[0].entries_count();
}

bool size_block(const BlockCall& call) {
  const Column& x = call.inputs[0];
  if (x.kind() == Column::Kind::object) return false;
  if (x.kind() == Column::Kind::dense || x.kind() == Column::Kind::constant) {
    call.outputs[0] = Column::constant(Tensor::scalar(x.row_dims().entries()), call.rows);
    return true;
  }
  Column out = Column::dense(DType::int64, {}, call.rows);
  for (int64_t i = 0; i < call.rows; ++i)
    out.mutable_entries<int64_t>()[i] = x.dims_of(i).entries();
  call.outputs[0] = std::move(out);
  return true;
}

void rank_row(const RowCall& call) {
  *call.outputs[0].allocate_as<int64_t>({}) = call.inputs[0].dims().rank();
}

Spec infer_scalar_int(const InferContext& context) {
  context.tensor(0);
  return Spec::tensor(DType::int64, {});
}

// -- reshape

// Fills in the size that -1 stands for; says what is wrong, or nothing. Beside a size of 0 it is
// what the sizes other than 0 leave over.
std::string fill_in_size(std::span<const int64_t> from, std::vector<int64_t>* sizes) {
  int64_t entries = 1, nonzero_from = 1, known = 1;
  int64_t* free = nullptr;
  bool has_zero = false, overflows = false;
  for (const int64_t size : from) {
    entries = checked_product({entries, size});
    if (size > 0) overflows |= __builtin_mul_overflow(nonzero_from, size, &nonzero_from);
  }
  for (int64_t& size : *sizes) {
    if (size < -1) return "a size must not be negative: " + std::to_string(size);
    if (size == -1 && free) return "-1 stands twice in the shape";
    if (size == -1) free = &size;
    if (size > 0) overflows |= __builtin_mul_overflow(known, size, &known);
    has_zero |= size == 0;
  }
  const int64_t all = has_zero ? nonzero_from : entries;
  const bool fits = !overflows && (!has_zero || entries == 0) &&
                    (free ? all % known == 0 : has_zero || known == entries);
  if (!fits) {
    const Shape own(std::vector<int64_t>(from.begin(), from.end()));
    return "shape " + own.text() + " does not fit " + Shape(*sizes).text();
  }
  if (free) *free = all / known;
  return {};
}

Spec infer_reshape(const InferContext& context) {
  const LeafSpec& type = context.tensor(0);
  const Shape wanted = shape_from_input(context, 1);
  std::vector<int64_t> given = context.known_ints(1);
  if (!type.shape.is_static()) return Spec::tensor(type.dtype, wanted);
  if (given.empty()) {
    // Not all of it is known, or all through other shapes.
    if (wanted.is_static() && wanted.entries() != type.shape.entries()) {
      context.fail(0, "is " + type.text() + ", which does not fit shape " + wanted.text());
    }
    return Spec::tensor(type.dtype, wanted);
  }
  const std::string wrong = fill_in_size(type.shape.sizes(), &given);
  if (!wrong.empty()) context.fail(1, "cannot be the shape of " + type.text() + ": " + wrong);
  return Spec::tensor(type.dtype, Shape(std::move(given)));
}

Dims reshaped_dims(const Dims& from, const Tensor& shape) {
  const Dims wanted = read_dims("reshape", shape, true);
  std::vector<int64_t> sizes(wanted.sizes().begin(), wanted.sizes().end());
  const std::string wrong = fill_in_size(from.sizes(), &sizes);
  if (!wrong.empty()) fail_row("reshape", wrong);
  return Dims(sizes);
}

void reshape_row(const RowCall& call) {
  const Tensor& x = call.inputs[0];
  call.outputs[0].set(x.reshaped(reshaped_dims(x.dims(), call.inputs[1])));
}

bool reshape_block(const BlockCall& call) {
  const Column &x = call.inputs[0], &shape = call.inputs[1];
  if (shape.kind() != Column::Kind::constant || call.rows == 0) return false;
  try {
    if (x.kind() == Column::Kind::constant) {
      const Tensor value = x.row(0);
      call.outputs[0] =
          Column::constant(value.reshaped(reshaped_dims(value.dims(), shape.row(0))), call.rows);
      return true;
    }
    if (x.kind() != Column::Kind::dense) return false;
    Column source = x;
    const Dims dims = reshaped_dims(x.row_dims(), shape.row(0));
    call.outputs[0] = Column::dense(x.dtype(), dims, call.rows, x.buffer(), source.mutable_data());
    return true;
  } catch (const Error&) {
    return false;  // each row is to say so
  }
}

// -- views that attributes describe

using ViewMaker = StridedView (*)(const Attrs& attrs, const Dims& dims, Dims* out);

template <ViewMaker make>
void view_row(const RowCall& call) {
  Dims dims;
  const StridedView view = make(call.attrs, call.inputs[0].dims(), &dims);
  set_strided(&call.outputs[0], call.inputs[0], view, dims);
}

template <ViewMaker make>
bool view_block(const BlockCall& call) {
  const Column& x = call.inputs[0];
  if (x.kind() != Column::Kind::dense && x.kind() != Column::Kind::constant) return false;
  try {
    Dims dims;
    const StridedView view = make(call.attrs, x.row_dims(), &dims);
    return set_strided_block(call, view, dims);
  } catch (const Error&) {
    return false;  // each row is to say so
  }
}

StridedView expand_view(const Attrs& attrs, const Dims& dims, Dims* out) {
  const int axis = row_axis("expand_dims", attrs["axis"].as_int(), dims.rank() + 1);
  for (int i = 0; i <= dims.rank(); ++i)
    out->push_back(i < axis ? dims[i] : i == axis ? 1 : dims[i - 1]);
  return StridedView::of(dims);
}

Spec infer_expand(const InferContext& context) {
  const LeafSpec& type = context.tensor(0);
  if (!type.shape.has_rank()) return Spec::tensor(type.dtype, type.shape);
  if (type.shape.rank() == kMaxRank) context.fail(0, "has 8 axes already");
  const int axis =
      infer_axis(context, "axis", context.attrs["axis"].as_int(), type.shape.rank() + 1);
  std::vector<int64_t> sizes = type.shape.sizes();
  sizes.insert(sizes.begin() + axis, 1);
  return Spec::tensor(type.dtype, Shape(std::move(sizes)));
}

StridedView squeeze_view(const Attrs& attrs, const Dims& dims, Dims* out) {
  std::array<bool, kMaxRank> drop{};
  const bool all = attrs["axis"].is_none();
  if (!all) {
    for (const int64_t a : attr_ints(attrs["axis"])) {
      const int axis = row_axis("squeeze", a, dims.rank());
      if (dims[axis] != 1)
        fail_row("squeeze", "axis " + std::to_string(a) + " of shape " + dims.text() + " is not 1");
      drop[static_cast<size_t>(axis)] = true;
    }
  }
  for (int i = 0; i < dims.rank(); ++i) {
    if (!(all ? dims[i] == 1 : drop[static_cast<size_t>(i)])) out->push_back(dims[i]);
  }
  return StridedView::of(dims);
}

Spec infer_squeeze(const InferContext& context) {
  const LeafSpec& type = context.tensor(0);
  const Shape& shape = type.shape;
  if (!shape.has_rank()) return Spec::tensor(type.dtype, shape);
  std::vector<int64_t> sizes;
  if (context.attrs["axis"].is_none()) {
    for (const int64_t s : shape.sizes()) {
      if (s == Shape::kUnknown) return Spec::tensor(type.dtype, Shape::unknown_rank());
      if (s != 1) sizes.push_back(s);
    }
    return Spec::tensor(type.dtype, Shape(std::move(sizes)));
  }
  std::array<bool, kMaxRank> drop{};
  for (const int64_t a : infer_ints(context, "axis")) {
    const int axis = infer_axis(context, "axis", a, shape.rank());
    if (shape[axis] > 1 || shape[axis] == 0) {
      context.fail(0, "is " + type.text() + ": axis " + std::to_string(a) + " is not 1");
    }
    drop[static_cast<size_t>(axis)] = true;
  }
  for (int i = 0; i < shape.rank(); ++i) {
    if (!drop[static_cast<size_t>(i)]) sizes.push_back(shape[i]);
  }
  return Spec::tensor(type.dtype, Shape(std::move(sizes)));
}

StridedView transpose_view(const Attrs& attrs, const Dims& dims, Dims* out) {
  std::vector<int64_t> perm;  // bounded: axes
  if (attrs["perm"].is_none()) {
    for (int i = dims.rank(); i-- > 0;) perm.push_back(i);
  } else {
    perm = attr_ints(attrs["perm"]);
  }
  if (static_cast<int>(perm.size()) != dims.rank()) {
    fail_row("transpose",
             "perm has " + std::to_string(perm.size()) + " entries for shape " + dims.text());
  }
  const StridedView all = StridedView::of(dims);
  StridedView view;
  for (const int64_t p : perm) {
    const int axis = row_axis("transpose", p, dims.rank());
    view.push_back(dims[axis], all.stride[static_cast<size_t>(axis)]);
    out->push_back(dims[axis]);
  }
  return view;
}

Spec infer_transpose(const InferContext& context) {
  const LeafSpec& type = context.tensor(0);
  const Shape& shape = type.shape;
  if (context.attrs["perm"].is_none()) {
    if (!shape.has_rank()) return Spec::tensor(type.dtype, shape);
    return Spec::tensor(type.dtype,
                        Shape(std::vector<int64_t>(shape.sizes().rbegin(), shape.sizes().rend())));
  }
  const std::vector<int64_t> perm = infer_ints(context, "perm");
  const int rank = static_cast<int>(perm.size());
  if (rank > kMaxRank) throw TypeError{-1, "perm", "has more than 8 entries"};
  if (shape.has_rank() && shape.rank() != rank) {
    context.fail(0, "is " + type.text() + ", perm has " + std::to_string(rank) + " entries");
  }
  std::vector<bool> seen(perm.size(), false);  // bounded: axes
  std::vector<int64_t> sizes;
  for (const int64_t p : perm) {
    const auto axis = static_cast<size_t>(infer_axis(context, "perm", p, rank));
    if (seen[axis]) throw TypeError{-1, "perm", "names axis " + std::to_string(p) + " twice"};
    seen[axis] = true;
    sizes.push_back(shape.has_rank() ? shape[static_cast<int>(axis)] : Shape::kUnknown);
  }
  return Spec::tensor(type.dtype, Shape(std::move(sizes)));
}

StridedView reverse_view(const Attrs& attrs, const Dims& dims, Dims* out) {
  StridedView view = StridedView::of(dims);
  *out = dims;
  std::array<bool, kMaxRank> turn{};
  if (attrs["axis"].is_none()) {
    turn.fill(true);
  } else {
    for (const int64_t a : attr_ints(attrs["axis"]))
      turn[static_cast<size_t>(row_axis("reverse", a, dims.rank()))] = true;
  }
  for (int i = 0; i < dims.rank(); ++i) {
    const auto a = static_cast<size_t>(i);
    if (!turn[a] || dims[i] == 0) continue;
    view.first += (dims[i] - 1) * view.stride[a];
    view.stride[a] = -view.stride[a];
  }
  return view;
}

Spec infer_reverse(const InferContext& context) {
  const LeafSpec& type = context.tensor(0);
  if (type.shape.has_rank() && !context.attrs["axis"].is_none()) {
    std::array<bool, kMaxRank> seen{};
    for (const int64_t a : infer_ints(context, "axis")) {
      const auto axis = static_cast<size_t>(infer_axis(context, "axis", a, type.shape.rank()));
      if (seen[axis]) throw TypeError{-1, "axis", "names axis " + std::to_string(a) + " twice"};
      seen[axis] = true;
    }
  }
  return Spec::tensor(type.dtype, type.shape);
}

// -- broadcast_to

StridedView broadcast_view(const Dims& from, const Dims& to) {
  bool fits = from.rank() <= to.rank();
  const StridedView all = StridedView::of(from);
  StridedView view;
  for (int i = 0; fits && i < to.rank(); ++i) {
    const int own = i - (to.rank() - from.rank());
    const int64_t size = own < 0 ? 1 : from[own];
    fits = size == 1 || size == to[i];
    view.push_back(to[i], own < 0 || size == 1 ? 0 : all.stride[static_cast<size_t>(own)]);
  }
  if (!fits)
    fail_row("broadcast_to", "shape " + from.text() + " does not broadcast to " + to.text());
  return view;
}

void broadcast_to_row(const RowCall& call) {
  const Tensor& x = call.inputs[0];
  const Dims dims = read_dims("broadcast_to", call.inputs[1]);
  check_size("broadcast_to", dims, x.dtype());
  set_strided(&call.outputs[0], x, broadcast_view(x.dims(), dims), dims);
}

Spec infer_broadcast_to(const InferContext& context) {
  const LeafSpec& type = context.tensor(0);
  Shape wanted = shape_from_input(context, 1);
  const std::vector<int64_t> given = context.known_ints(1);
  if (std::ranges::any_of(given, [](int64_t s) { return s < 0; }))
    context.fail(1, "holds a negative size");
  if (type.shape.has_rank() && wanted.has_rank()) {
    bool ok = true;
    const Shape joined = broadcast_shapes(type.shape, wanted, &ok);
    for (int i = 0; ok && i < wanted.rank() && joined.rank() == wanted.rank(); ++i) {
      ok = wanted[i] == Shape::kUnknown || joined[i] == Shape::kUnknown || joined[i] == wanted[i];
    }
    if (!ok || joined.rank() != wanted.rank()) {
      context.fail(0, "is " + type.text() + ", which does not broadcast to " + wanted.text());
    }
  }
  return Spec::tensor(type.dtype, std::move(wanted));
}

Spec infer_same(const InferContext& context) {
  const LeafSpec& type = context.tensor(0);
  return Spec::tensor(type.dtype, type.shape);
}

OpDef shape_op(std::string name, std::string doc, Spec (*infer)(const InferContext&), RowKernel row,
               BlockKernel block, std::vector<Param> more = {}) {
  OpDef op;
  op.name = std::move(name);
  op.params = {required("x", Param::Kind::tensor)};
  for (Param& p : more) op.params.push_back(std::move(p));
  op.doc = std::move(doc);
  op.infer = infer;
  op.row = row;
  op.block = block;
  op.can_fail = op.params.size() > 1;
  op.cost_ns = 40;
  op.group = "shape";
  return op;
}

// Returns `op` as one that looks at no entry.
OpDef free_op(OpDef op) {
  op.touches = Touches::nothing;
  return op;
}

// Returns `op` as one whose output follows from the shape of its input.
OpDef size_op(OpDef op, Tensor (*of_shape)(const Shape&)) {
  op.of_shape = of_shape;
  return free_op(std::move(op));
}

std::vector<int64_t> known_sizes(std::span<const KnownEntries> inputs) {
  const Shape& shape = inputs[0].type.shape;
  return shape.has_rank() ? shape.sizes() : std::vector<int64_t>();
}

}  // namespace

void add_shape_ops(OpRegistry* registry) {
  const auto infer_shape = [](const InferContext& context) {
    return Spec::tensor(DType::int64, {context.tensor(0).shape.rank()});
  };
  OpDef shape =
      size_op(shape_op("shape", "the sizes of x, int64", infer_shape, shape_row, shape_block),
              [](const Shape& of) { return Tensor::vector<int64_t>(of.sizes()); });
  shape.known_entries = known_sizes;
  registry->add(std::move(shape));
  registry->add(size_op(
      shape_op("size", "the number of entries of x, int64", infer_scalar_int, size_row, size_block),
      [](const Shape& of) { return Tensor::scalar(of.entries()); }));
  registry->add(size_op(
      shape_op("rank", "the number of axes of x, int64", infer_scalar_int, rank_row, nullptr),
      [](const Shape& of) { return Tensor::scalar(int64_t{of.rank()}); }));
  registry->add(free_op(shape_op(
      "reshape", "the entries of x in another shape; -1 stands for what is left", infer_reshape,
      reshape_row, reshape_block, {required("shape", Param::Kind::tensor)})));
  registry->add(free_op(shape_op("expand_dims", "x with an axis of size 1 more", infer_expand,
                                 view_row<expand_view>, view_block<expand_view>,
                                 {required("axis", Param::Kind::integer)})));
  registry->add(free_op(shape_op("squeeze", "x without its axes of size 1, or without those named",
                                 infer_squeeze, view_row<squeeze_view>, view_block<squeeze_view>,
                                 {optional("axis", Param::Kind::any, {})})));
  registry->add(shape_op("transpose",
                         "x with its axes in the order perm, reversed where it is left out",
                         infer_transpose, view_row<transpose_view>, view_block<transpose_view>,
                         {optional("perm", Param::Kind::any, {})}));
  registry->add(shape_op("reverse", "x backwards along the axes named, or along all", infer_reverse,
                         view_row<reverse_view>, view_block<reverse_view>,
                         {optional("axis", Param::Kind::any, {})}));
  registry->add(shape_op("broadcast_to", "x repeated along axes of size 1 up to a shape",
                         infer_broadcast_to, broadcast_to_row, nullptr,
                         {required("shape", Param::Kind::tensor)}));
  OpDef identity = shape_op(
      "identity", "x itself", infer_same,
      [](const RowCall& call) { call.outputs[0].set(call.inputs[0]); },
      [](const BlockCall& call) { return call.outputs[0] = call.inputs[0], true; });
  identity.elementwise = true;
  registry->add(std::move(identity));
}

}  // namespace penstock
