// shuffle (of a tensor): its items along an axis in an order that is drawn for each row.

#include <numeric>
#include <utility>
#include <vector>

#include "data/charged.h"
#include "functions/kernels/families.h"
#include "functions/kernels/math/shape_arguments.h"
#include "functions/kernels/math/take_items.h"
#include "functions/kernels/op_def.h"

namespace penstock {
namespace {

Spec infer_shuffle(const InferContext& context) {
  const LeafSpec& type = context.tensor(0);
  const int64_t axis = context.attrs["axis"].as_int();
  if (type.shape.has_rank()) {
    const int64_t rank = type.shape.rank();
    if (rank == 0) context.fail(0, "is a scalar, which has no items to shuffle");
    if (axis < -rank || axis >= rank) {
      throw TypeError{
          -1, "axis",
          "is " + std::to_string(axis) + ", the tensor has rank " + std::to_string(rank)};
    }
  }
  return Spec::tensor(type.dtype, type.shape);
}

void shuffle_row(const RowCall& call) {
  const Tensor& x = call.inputs[0];
  const int64_t rank = x.dims().rank();
  int64_t axis = call.attrs["axis"].as_int();
  if (axis < 0) axis += rank;
  if (axis < 0 || axis >= rank) {
    fail_row("shuffle", "axis is " + std::to_string(call.attrs["axis"].as_int()) +
                            ", the tensor has rank " + std::to_string(rank));
  }
  ChargedVector<int64_t> order(static_cast<size_t>(x.dims()[static_cast<int>(axis)]));
  std::iota(order.begin(), order.end(), int64_t{0});
  const Attr& seed = call.attrs["seed"];
  RandomStream stream(seed.is_none() ? 0 : static_cast<uint64_t>(seed.as_int()), call.row.epoch,
                      call.row.lineage, call.row.round);
  for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[stream.next_below(i)]);
  take_items(&call.outputs[0], x, static_cast<int>(axis), order);
}

}  // namespace

void add_shuffle_op(OpRegistry* registry) {
  OpDef op = op_def("shuffle", "the items of a tensor along an axis, in random order",
                    {tensor_param("x"), axis_param(0), option("seed", Param::Kind::integer, {})},
                    infer_shuffle, shuffle_row, {"random", 200});
  op.effects = Effects::random;
  registry->add(std::move(op));
}

}  // namespace penstock
