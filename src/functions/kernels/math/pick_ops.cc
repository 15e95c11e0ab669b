// Entries picked by indices, masks and conditions: gather, boolean_mask, nonzero, where, clip.

#include <cstring>

#include "data/charged.h"
#include "functions/kernels/families.h"
#include "functions/kernels/math/convert.h"
#include "functions/kernels/math/entrywise.h"
#include "functions/kernels/math/promotion.h"
#include "functions/kernels/math/shape_arguments.h"
#include "functions/kernels/math/take_items.h"
#include "functions/kernels/op_def.h"

namespace penstock {
namespace {

// -- gather

Spec infer_gather(const InferContext& context) {
  const LeafSpec& type = context.tensor(0);
  const LeafSpec& indices = infer_integers(context, 1, -1);
  if (!type.shape.has_rank() || !indices.shape.has_rank())
    return Spec::tensor(type.dtype, Shape::unknown_rank());
  const int axis = infer_axis(context, "axis", context.attrs["axis"].as_int(), type.shape.rank());
  if (type.shape.rank() - 1 + indices.shape.rank() > kMaxRank)
    context.fail("the result has more than 8 axes");
  std::vector<int64_t> sizes = type.shape.sizes();
  const int64_t size = sizes[static_cast<size_t>(axis)];
  for (const int64_t i : context.known_ints(1)) {
    if (size >= 0 && (i < 0 || i >= size)) {
      context.fail(1, "holds index " + std::to_string(i) + ", out of range for size " +
                          std::to_string(size));
    }
  }
  sizes.erase(sizes.begin() + axis);
  sizes.insert(sizes.begin() + axis, indices.shape.sizes().begin(), indices.shape.sizes().end());
  return Spec::tensor(type.dtype, Shape(std::move(sizes)));
}

void gather_row(const RowCall& call) {
  const Tensor& x = call.inputs[0];
  const int axis = row_axis("gather", call.attrs["axis"].as_int(), x.dims().rank());
  const int64_t size = x.dims()[axis];
  const ChargedVector<int64_t> at = read_ints(call.inputs[1]);
  for (const int64_t i : at) {
    if (i < 0 || i >= size) {
      fail_row("gather",
               "index " + std::to_string(i) + " is out of range for size " + std::to_string(size));
    }
  }
  take_items(&call.outputs[0], x, axis, at, call.inputs[1].dims());
}

// -- boolean_mask

Spec infer_boolean_mask(const InferContext& context) {
  const LeafSpec& type = context.tensor(0);
  const LeafSpec& mask = context.tensor_of(1, DType::boolean);
  if (mask.shape.is_scalar()) context.fail(1, "is a scalar, expected a mask over the first axes");
  if (!type.shape.has_rank() || !mask.shape.has_rank())
    return Spec::tensor(type.dtype, Shape::unknown_rank());
  const int rank = mask.shape.rank();
  bool fits = rank <= type.shape.rank();
  for (int i = 0; fits && i < rank; ++i) {
    fits = mask.shape[i] == type.shape[i] || mask.shape[i] == Shape::kUnknown ||
           type.shape[i] == Shape::kUnknown;
  }
  if (!fits) context.fail(1, "is " + mask.text() + ", which does not fit " + type.text());
  std::vector<int64_t> sizes(type.shape.sizes().begin() + rank, type.shape.sizes().end());
  sizes.insert(sizes.begin(), Shape::kUnknown);
  return Spec::tensor(type.dtype, Shape(std::move(sizes)));
}

void boolean_mask_row(const RowCall& call) {
  const Tensor &x = call.inputs[0], &mask = call.inputs[1];
  const int rank = mask.dims().rank();
  bool fits = rank >= 1 && rank <= x.dims().rank();
  for (int i = 0; fits && i < rank; ++i) fits = mask.dims()[i] == x.dims()[i];
  if (!fits)
    fail_row("boolean_mask",
             "mask of shape " + mask.dims().text() + " for shape " + x.dims().text());
  const int64_t n = mask.entries_count();
  int64_t kept = 0, inner = dtype_size(x.dtype());
  for (int64_t i = 0; i < n; ++i) kept += mask.entry<bool>(i) ? 1 : 0;
  Dims dims{kept};
  for (int i = rank; i < x.dims().rank(); ++i) {
    inner *= x.dims()[i];
    dims.push_back(x.dims()[i]);
  }
  OutputSlot& slot = call.outputs[0];
  std::byte* to = slot.allocate(dims);
  share_strings(&slot, x);
  for (int64_t i = 0; inner > 0 && i < n; ++i) {
    if (!mask.entry<bool>(i)) continue;
    std::memcpy(to, x.data() + i * inner, static_cast<size_t>(inner));
    to += inner;
  }
}

// -- nonzero

Spec infer_nonzero(const InferContext& context) {
  const LeafSpec& type = context.tensor(0);
  if (type.dtype == DType::bytes)
    context.fail(0, "is " + type.text() + ", expected bool or numbers");
  if (type.shape.is_scalar()) context.fail(0, "is " + type.text() + ": a scalar has no places");
  return Spec::tensor(DType::int64,
                      {Shape::kUnknown, type.shape.has_rank() ? type.shape.rank() : -1});
}

void nonzero_row(const RowCall& call) {
  const Tensor x = converted(call.inputs[0], DType::boolean);
  const Dims& dims = x.dims();
  ChargedVector<int64_t> found;
  for (int64_t i = 0; i < x.entries_count(); ++i) {
    if (x.entry<bool>(i)) found.push_back(i);
  }
  auto* out =
      call.outputs[0].allocate_as<int64_t>({static_cast<int64_t>(found.size()), dims.rank()});
  for (int64_t at : found) {
    for (int axis = dims.rank() - 1; axis >= 0; --axis) {
      out[axis] = at % dims[axis];
      at /= dims[axis];
    }
    out += dims.rank();
  }
}

// -- where

Spec infer_where(const InferContext& context) {
  const LeafSpec& condition = context.tensor_of(0, DType::boolean);
  const DType dtype = infer_promoted(context, 1, 2);
  bool ok = true;
  Shape shape = broadcast_shapes(condition.shape, infer_broadcast(context, 1, 2), &ok);
  if (!ok) {
    context.fail(0, "has shape " + condition.shape.text() + ", the sides " +
                        context.tensor(1).shape.text() + " and " + context.tensor(2).shape.text() +
                        ": these do not broadcast");
  }
  return Spec::tensor(dtype, std::move(shape));
}

template <typename T>
void select(const BroadcastPlan& plan, const bool* condition, const std::byte* left,
            const std::byte* right, std::byte* target) {
  const auto* a = reinterpret_cast<const T*>(left);
  const auto* b = reinterpret_cast<const T*>(right);
  auto* out = reinterpret_cast<T*>(target);
  const int64_t sc = plan.steps(0), sa = plan.steps(1), sb = plan.steps(2);
  plan.for_each_run([&](int64_t to, int64_t n, const auto& at) {
    for (int64_t i = 0; i < n; ++i) {
      const T x = a[at[1] + i * sa], y = b[at[2] + i * sb];
      out[to + i] = condition[at[0] + i * sc] ? x : y;
    }
  });
}

void select_entries(const BroadcastPlan& plan, const std::byte* condition, const std::byte* a,
                    const std::byte* b, int64_t entry, std::byte* out) {
  const auto* c = reinterpret_cast<const bool*>(condition);
  switch (entry) {
    case 1: return select<uint8_t>(plan, c, a, b, out);
    case 2: return select<uint16_t>(plan, c, a, b, out);
    case 4: return select<uint32_t>(plan, c, a, b, out);
    case 8: return select<uint64_t>(plan, c, a, b, out);
    default: return select<BytesView>(plan, c, a, b, out);
  }
}

void where_row(const RowCall& call) {
  OutputSlot& slot = call.outputs[0];
  const DType dtype = slot.dtype();
  const Tensor a = converted(call.inputs[1], dtype), b = converted(call.inputs[2], dtype);
  const Dims dims =
      broadcast_dims("where", call.inputs[0].dims(), broadcast_dims("where", a.dims(), b.dims()));
  const std::array<Extents, 3> extents{Extents(call.inputs[0].dims()), Extents(a.dims()),
                                       Extents(b.dims())};
  select_entries(*BroadcastPlan::make(extents), call.inputs[0].data(), a.data(), b.data(),
                 dtype_size(dtype), slot.allocate(dims));
  share_strings(&slot, a);
  share_strings(&slot, b);
}

bool where_block(const BlockCall& call) {
  const DType dtype = call.output_dtypes[0];
  if (call.inputs[1].dtype() != dtype || call.inputs[2].dtype() != dtype) return false;
  const auto batch = batch_inputs(call);
  if (!batch || batch->all_constant) return false;
  Column out = Column::dense(dtype, batch->row_dims, call.rows);
  select_entries(*BroadcastPlan::make(batch->extents), call.inputs[0].data(), call.inputs[1].data(),
                 call.inputs[2].data(), dtype_size(dtype), out.mutable_data());
  share_strings(&out.mutable_buffer(), call.inputs[1].buffer(), dtype);
  share_strings(&out.mutable_buffer(), call.inputs[2].buffer(), dtype);
  call.outputs[0] = std::move(out);
  return true;
}

// -- clip

void run_clip(const EntrywiseCall& call) {
  visit_number(call.dtype, [&]<typename T>(TypeTag<T>) {
    const auto* x = reinterpret_cast<const T*>(call.in[0]);
    const auto* low = reinterpret_cast<const T*>(call.in[1]);
    const auto* high = reinterpret_cast<const T*>(call.in[2]);
    auto* out = reinterpret_cast<T*>(call.out);
    const BroadcastPlan& plan = call.plan;
    const int64_t sx = plan.steps(0), sl = plan.steps(1), sh = plan.steps(2);
    plan.for_each_run([&](int64_t to, int64_t n, const auto& at) {
      for (int64_t i = 0; i < n; ++i) {
        const T v = x[at[0] + i * sx], l = low[at[1] + i * sl], h = high[at[2] + i * sh];
        const T below = h < v || h != h ? h : v;
        out[to + i] = l > below || l != l ? l : below;
      }
    });
  });
}

constexpr EntrywiseKernel kClip{"clip", 3, common_compute_dtype, false, run_clip};

Spec infer_clip(const InferContext& context) {
  const LeafSpec& x = infer_number(context, 0);
  Shape shape = x.shape;
  DType dtype = x.dtype;
  for (int i = 1; i < 3; ++i) {
    infer_number(context, i);
    infer_promoted(context, 0, i);
    bool ok = true;
    shape = broadcast_shapes(shape, context.tensor(i).shape, &ok);
    if (!ok)
      context.fail(i, "has shape " + context.tensor(i).shape.text() + ", which does not broadcast");
    const auto wider = promote(dtype, context.tensor(i).dtype);
    if (!wider)
      context.fail(i, "is " + context.tensor(i).text() +
                          ": cast it: " + std::string(dtype_name(dtype)) + "(x)");
    dtype = *wider;
  }
  return Spec::tensor(dtype, std::move(shape));
}

}  // namespace

void add_pick_ops(OpRegistry* registry) {
  registry->add(op_def("gather", "the items of x along an axis at these indices",
                       {tensor_param("x"), tensor_param("indices"), axis_param(0)}, infer_gather,
                       gather_row, {"shape", 60, true}));
  registry->add(op_def("boolean_mask", "the items of x where the mask over its first axes is true",
                       {tensor_param("x"), tensor_param("mask")}, infer_boolean_mask,
                       boolean_mask_row, {"shape", 60, true}));
  registry->add(op_def("nonzero", "the index vectors of the entries that are true or not zero",
                       {tensor_param("x")}, infer_nonzero, nonzero_row, {"shape", 100}));
  OpDef where = op_def("where", "entries of a where the condition is true, of b elsewhere",
                       {tensor_param("cond"), tensor_param("a"), tensor_param("b")}, infer_where,
                       where_row, {"math", 60});
  where.block = where_block;
  where.elementwise = true;
  where.literals_from = 1;  // the condition is bool
  registry->add(std::move(where));
  OpDef clip = op_def("clip", "x between low and high; low where low > high",
                      {tensor_param("x"), tensor_param("low"), tensor_param("high")}, infer_clip,
                      entrywise_row<kClip>, {"math", 60});
  clip.block = entrywise_block<kClip>;
  clip.elementwise = true;
  clip.entrywise = &kClip;
  registry->add(std::move(clip));
}

}  // namespace penstock
