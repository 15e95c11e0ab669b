// Entries picked by indices, masks and conditions: gather, boolean_mask, where, clip.

#include <cstring>

#include "functions/kernels/families.h"
#include "functions/kernels/math/convert.h"
#include "functions/kernels/math/entrywise.h"
#include "functions/kernels/math/promotion.h"
#include "functions/kernels/math/shape_arguments.h"

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
  const Tensor &x = call.inputs[0], &indices = call.inputs[1];
  const int axis = row_axis("gather", call.attrs["axis"].as_int(), x.dims().rank());
  int64_t outer = 1, inner = dtype_size(x.dtype());
  Dims dims;
  for (int i = 0; i < axis; ++i) {
    outer *= x.dims()[i];
    dims.push_back(x.dims()[i]);
  }
  for (const int64_t s : indices.dims().sizes()) dims.push_back(s);
  for (int i = axis + 1; i < x.dims().rank(); ++i) {
    inner *= x.dims()[i];
    dims.push_back(x.dims()[i]);
  }
  const int64_t size = x.dims()[axis], count = indices.entries_count();
  std::vector<int64_t> at = read_ints(indices);
  for (const int64_t i : at) {
    if (i < 0 || i >= size) {
      fail_row("gather",
               "index " + std::to_string(i) + " is out of range for size " + std::to_string(size));
    }
  }
  OutputSlot& slot = call.outputs[0];
  check_size("gather", dims, x.dtype());
  std::byte* to = slot.allocate(dims);
  share_strings(&slot, x);
  if (inner == 0) return;
  for (int64_t o = 0; o < outer; ++o) {
    const std::byte* from = x.data() + o * size * inner;
    for (int64_t i = 0; i < count; ++i, to += inner) {
      std::memcpy(to, from + at[static_cast<size_t>(i)] * inner, static_cast<size_t>(inner));
    }
  }
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

OpDef pick_op(std::string name, std::string doc, std::vector<Param> params,
              Spec (*infer)(const InferContext&), RowKernel row, BlockKernel block) {
  OpDef op;
  op.name = std::move(name);
  op.params = std::move(params);
  op.doc = std::move(doc);
  op.infer = infer;
  op.row = row;
  op.block = block;
  op.cost_ns = 60;
  op.group = "shape";
  return op;
}

}  // namespace

void add_pick_ops(OpRegistry* registry) {
  const auto tensor = [](const char* name) { return required(name, Param::Kind::tensor); };
  OpDef gather = pick_op(
      "gather", "the items of x along an axis at these indices",
      {tensor("x"), tensor("indices"), optional("axis", Param::Kind::integer, Attr::integer(0))},
      infer_gather, gather_row, nullptr);
  gather.can_fail = true;
  registry->add(std::move(gather));
  OpDef mask =
      pick_op("boolean_mask", "the items of x where the mask over its first axes is true",
              {tensor("x"), tensor("mask")}, infer_boolean_mask, boolean_mask_row, nullptr);
  mask.can_fail = true;
  registry->add(std::move(mask));
  OpDef where =
      pick_op("where", "entries of a where the condition is true, of b elsewhere",
              {tensor("cond"), tensor("a"), tensor("b")}, infer_where, where_row, where_block);
  where.elementwise = true;
  where.group = "math";
  registry->add(std::move(where));
  OpDef clip = pick_op("clip", "x between low and high; low where low > high",
                       {tensor("x"), tensor("low"), tensor("high")}, infer_clip,
                       entrywise_row<kClip>, entrywise_block<kClip>);
  clip.elementwise = true;
  clip.group = "math";
  registry->add(std::move(clip));
}

}  // namespace penstock
