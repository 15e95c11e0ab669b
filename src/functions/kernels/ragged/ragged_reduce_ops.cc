// sum, mean, prod, min, max, any, all of each row of a ragged tensor: the dense op on row after
// row.

#include <memory>

#include "data/charged.h"
#include "functions/kernels/math/shape_arguments.h"
#include "functions/kernels/ragged/ragged_family.h"
#include "functions/kernels/ragged/ragged_rows.h"

namespace penstock {
namespace {

// The dense op, and its attributes for one row.
struct RowReduction {
  const OpDef* op;
  Attrs attrs;
};

std::shared_ptr<const RowReduction> reduction(const char* name, bool keepdims) {
  auto out = std::make_shared<RowReduction>();
  out->op = OpRegistry::instance().find(name);
  PENSTOCK_CHECK(out->op != nullptr);
  out->attrs.set("axis", Attr::list({Attr::integer(0)}));
  out->attrs.set("keepdims", Attr::boolean(keepdims));
  return out;
}

Spec infer_reduce(const InferContext& context, const char* name) {
  const LeafSpec& type = infer_ragged(context, 0, 1);
  const std::vector<int64_t> axes =  // bounded: axes
      context.attrs["axis"].is_none() ? std::vector<int64_t>() : infer_ints(context, "axis");
  if (axes.size() != 1 || infer_axis(context, "axis", axes[0], type.shape.rank()) != 1) {
    throw TypeError{-1, "axis",
                    "must be 1 for a ragged tensor; over all entries: " + std::string(name + 7) +
                        "(flat_values(x))"};
  }
  const auto inner = reduction(name, false);
  const InferInput row{LeafSpec::tensor(type.dtype, type.shape.without_front()), nullptr, {}};
  const Spec of_row = inner->op->infer({std::span(&row, 1), inner->attrs, {}});
  return Spec::tensor(of_row.leaf.dtype, of_row.leaf.shape.with_front(type.shape[0]));
}

void reduce_row(const RowCall& call) {
  const auto& inner = *static_cast<const RowReduction*>(call.state);
  const RaggedTensor& x = ragged_input(call, 0);
  const DType dtype = call.outputs[0].dtype();
  const Dims item = x.values().dims().without_front();
  Tensor out = Tensor::make(dtype, item.with_front(x.rows()));
  const int64_t bytes = item.entries() * dtype_size(dtype);
  for (int64_t i = 0; i < x.rows(); ++i) {
    const Tensor row = ragged_row(x, i);
    const Tensor place(dtype, item, out.buffer(), out.mutable_data() + i * bytes);
    Tensor made;
    OutputSlot slot(dtype, &made, place);
    inner.op->row({inner.attrs, nullptr, std::span(&row, 1), std::span(&slot, 1), call.row});
    if (made.data() != place.data() && bytes > 0)
      std::memcpy(out.mutable_data() + i * bytes, made.data(), static_cast<size_t>(bytes));
  }
  call.outputs[0].set(std::move(out));
}

}  // namespace

void add_ragged_reduce_ops(OpRegistry* registry) {
  for (const char* name : {"reduce_sum", "reduce_mean", "reduce_prod", "reduce_min", "reduce_max",
                           "reduce_any", "reduce_all"}) {
    OpDef op = ragged_op(std::string("ragged_") + name,
                         std::string(name + 7) + " of each row of a ragged tensor (axis 1)",
                         nullptr, reduce_row,
                         {required("x", Param::Kind::tensor), required("axis", Param::Kind::any)});
    op.infer = [name](const InferContext& context) { return infer_reduce(context, name); };
    op.prepare = [name](const Attrs&) -> std::shared_ptr<const void> {
      return reduction(name, false);
    };
    registry->add(std::move(op));
  }
}

}  // namespace penstock
