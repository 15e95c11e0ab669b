// segment_sum, unsorted_segment_sum: items along axis 0 added up by their segment's number.

#include <algorithm>
#include <cstring>

#include "data/charged.h"
#include "functions/kernels/families.h"
#include "functions/kernels/math/convert.h"
#include "functions/kernels/math/entrywise.h"
#include "functions/kernels/math/promotion.h"
#include "functions/kernels/math/shape_arguments.h"
#include "functions/kernels/math/wrapping.h"
#include "functions/kernels/op_def.h"

namespace penstock {
namespace {

// The shape of the sums, `segments` of them.
Spec infer_sums(const InferContext& context, int64_t segments) {
  const LeafSpec& type = infer_number(context, 0);
  const LeafSpec& ids = infer_integers(context, 1, 1);
  if (type.shape.is_scalar()) context.fail(0, "is a scalar, expected items along an axis");
  if (!type.shape.has_rank()) return Spec::tensor(type.dtype, type.shape);
  const int64_t items = type.shape[0], numbers = ids.shape.has_rank() ? ids.shape[0] : -1;
  if (items >= 0 && numbers >= 0 && items != numbers) {
    context.fail(
        1, "has " + std::to_string(numbers) + " numbers for " + std::to_string(items) + " items");
  }
  return Spec::tensor(type.dtype, type.shape.without_front().with_front(segments));
}

// Adds the items up; a negative number drops its item.
void add_up(std::string_view op, const RowCall& call, std::span<const int64_t> ids,
            int64_t segments) {
  const Tensor& given = call.inputs[0];
  OutputSlot& slot = call.outputs[0];
  if (given.dims().rank() == 0 || given.dims()[0] != static_cast<int64_t>(ids.size())) {
    fail_row(op, std::to_string(ids.size()) + " numbers for shape " + given.dims().text());
  }
  const Dims dims = given.dims().without_front().with_front(segments);
  check_size(op, dims, slot.dtype());
  const Tensor x = converted(given, compute_dtype(given.dtype()));
  Tensor sums = Tensor::make(x.dtype(), dims);
  if (dims.entries() > 0)
    std::memset(sums.mutable_data(), 0, static_cast<size_t>(sums.data_bytes()));
  const int64_t size = x.dims().without_front().entries();
  visit_number(x.dtype(), [&]<typename T>(TypeTag<T>) {
    const T* from = x.entries<T>();
    for (const int64_t id : ids) {
      T* to = sums.mutable_entries<T>() + std::max<int64_t>(id, 0) * size;
      for (int64_t k = 0; id >= 0 && k < size; ++k) to[k] = wrapping_add(to[k], from[k]);
      from += size;
    }
  });
  slot.set(converted(sums, slot.dtype()));
}

void segment_sum_row(const RowCall& call) {
  const ChargedVector<int64_t> ids = read_ints(call.inputs[1]);
  if (!std::ranges::is_sorted(ids) || (!ids.empty() && ids[0] < 0))
    fail_row("segment_sum", "the numbers must ascend from 0 or more; use unsorted_segment_sum");
  add_up("segment_sum", call, ids, ids.empty() ? 0 : ids.back() + 1);
}

Spec infer_unsorted(const InferContext& context) {
  infer_integers(context, 2, 0);
  const std::vector<int64_t> n = context.known_ints(2);
  if (!n.empty() && n[0] < 0) context.fail(2, "must not be negative: " + std::to_string(n[0]));
  return infer_sums(context, n.empty() ? Shape::kUnknown : n[0]);
}

void unsorted_segment_sum_row(const RowCall& call) {
  const ChargedVector<int64_t> ids = read_ints(call.inputs[1]);
  const int64_t segments = integer_at(call.inputs[2]);
  if (segments < 0)
    fail_row("unsorted_segment_sum",
             "num_segments must not be negative: " + std::to_string(segments));
  for (const int64_t id : ids) {
    if (id >= segments) {
      fail_row("unsorted_segment_sum",
               "number " + std::to_string(id) + " of " + std::to_string(segments) + " segments");
    }
  }
  add_up("unsorted_segment_sum", call, ids, segments);
}

}  // namespace

void add_segment_ops(OpRegistry* registry) {
  registry->add(
      op_def("segment_sum", "sums of the items of one number each; the numbers ascend",
             {tensor_param("x"), tensor_param("segment_ids")},
             [](const InferContext& context) { return infer_sums(context, Shape::kUnknown); },
             segment_sum_row, {"reductions", 120, true}));
  registry->add(
      op_def("unsorted_segment_sum",
             "sums of the items of numbers 0 to num_segments - 1; negative ones drop",
             {tensor_param("x"), tensor_param("segment_ids"), tensor_param("num_segments")},
             infer_unsorted, unsorted_segment_sum_row, {"reductions", 120, true}));
}

}  // namespace penstock
