// concat of sparse tensors along an axis; the others agree, or with expand_nonconcat_dims the
// result has the largest.

#include <algorithm>
#include <cstring>
#include <numeric>

#include "data/charged.h"
#include "functions/kernels/math/shape_arguments.h"
#include "functions/kernels/ragged/ragged_family.h"
#include "functions/kernels/ragged/ragged_rows.h"
#include "functions/kernels/ragged/sparse_rows.h"

namespace penstock {
namespace {

Spec infer_concat(const InferContext& context) {
  if (context.inputs.empty()) context.fail("needs sparse tensors");
  LeafSpec leaf = infer_sparse(context, 0);
  const bool expand = context.attrs["expand_nonconcat_dims"].as_bool();
  for (int i = 1; i < static_cast<int>(context.inputs.size()); ++i) {
    const LeafSpec& type = infer_sparse(context, i);
    const bool ranks = type.shape.has_rank() && leaf.shape.has_rank();
    if (type.dtype != leaf.dtype || (ranks && type.shape.rank() != leaf.shape.rank()))
      context.fail(i, "is " + type.text() + ", the first is " + leaf.text());
    if (!type.shape.has_rank()) leaf.shape = type.shape;
  }
  if (!leaf.shape.has_rank()) return Spec::of(std::move(leaf));
  const int axis = infer_axis(context, "axis", context.attrs["axis"].as_int(), leaf.shape.rank());
  std::vector<int64_t> sizes = leaf.shape.sizes();
  for (int i = 1; i < static_cast<int>(context.inputs.size()); ++i) {
    const Shape& shape = context.inputs[static_cast<size_t>(i)].type.shape;
    for (int k = 0; k < shape.rank(); ++k) {
      int64_t& size = sizes[static_cast<size_t>(k)];
      const int64_t other = shape[k];
      if (k == axis || expand) {
        const bool known = size >= 0 && other >= 0;
        size = !known ? Shape::kUnknown : k == axis ? size + other : std::max(size, other);
      } else if (size >= 0 && other >= 0 && size != other) {
        context.fail(i, "has size " + std::to_string(other) + " along axis " + std::to_string(k) +
                            ", the first " + std::to_string(size) +
                            "; expand_nonconcat_dims=true takes the largest");
      } else {
        size = std::max(size, other);
      }
    }
  }
  leaf.shape = Shape(std::move(sizes));
  return Spec::of(std::move(leaf));
}

// The sizes of the result. Throws where sizes that must agree do not.
ChargedVector<int64_t> joined_sizes(const std::vector<const SparseTensor*>& parts, size_t axis,
                                    bool expand) {
  ChargedVector<int64_t> sizes = read_ints(parts[0]->shape());
  for (size_t i = 1; i < parts.size(); ++i) {
    const ChargedVector<int64_t> other = read_ints(parts[i]->shape());
    if (other.size() != sizes.size())
      fail_row("sparse_concat", "tensors of rank " + std::to_string(sizes.size()) + " and " +
                                    std::to_string(other.size()));
    for (size_t k = 0; k < sizes.size(); ++k) {
      if (k == axis) {
        if (__builtin_add_overflow(sizes[k], other[k], &sizes[k]))
          fail_row("sparse_concat", "the size along the axis does not fit 64 bits");
      } else if (expand) {
        sizes[k] = std::max(sizes[k], other[k]);
      } else if (sizes[k] != other[k]) {
        fail_row("sparse_concat", "sizes " + std::to_string(sizes[k]) + " and " +
                                      std::to_string(other[k]) + " along axis " +
                                      std::to_string(k) +
                                      "; expand_nonconcat_dims=true takes the largest");
      }
    }
  }
  return sizes;
}

void concat_row(const RowCall& call) {
  std::vector<const SparseTensor*> parts;
  int64_t total = 0;
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    parts.push_back(&sparse_input(call, i));
    total += parts.back()->values().entries_count();
  }
  const auto rank = static_cast<size_t>(parts[0]->shape().entries_count());
  const auto axis = static_cast<size_t>(
      row_axis("sparse_concat", call.attrs["axis"].as_int(), static_cast<int>(rank)));
  const ChargedVector<int64_t> sizes =
      joined_sizes(parts, axis, call.attrs["expand_nonconcat_dims"].as_bool());
  // All indices as they will be, and the order that makes them ascend.
  ChargedVector<int64_t> at;
  at.reserve(static_cast<size_t>(total) * rank);
  int64_t shift = 0;
  for (const SparseTensor* part : parts) {
    const auto* from = part->indices().entries<int64_t>();
    const int64_t count = part->indices().entries_count();
    for (int64_t i = 0; i < count; ++i)
      at.push_back(from[i] + (static_cast<size_t>(i) % rank == axis ? shift : 0));
    shift += part->shape().entry<int64_t>(static_cast<int64_t>(axis));
  }
  ChargedVector<int64_t> order(static_cast<size_t>(total));
  std::iota(order.begin(), order.end(), 0);
  const auto row_of = [&](int64_t i) {
    return std::span(at).subspan(static_cast<size_t>(i) * rank, rank);
  };
  std::ranges::stable_sort(order, [&](int64_t a, int64_t b) {
    return std::ranges::lexicographical_compare(row_of(a), row_of(b));
  });
  Tensor all = Tensor::make(parts[0]->values().dtype(), {total});
  std::byte* to = all.mutable_data();
  for (const SparseTensor* part : parts) {
    const int64_t bytes = part->values().data_bytes();
    if (bytes > 0) std::memcpy(to, part->values().data(), static_cast<size_t>(bytes));
    to += bytes;
    share_strings(&all.mutable_buffer(), part->values().buffer(), all.dtype());
  }
  Tensor indices = Tensor::make(DType::int64, {total, static_cast<int64_t>(rank)});
  auto* index = indices.mutable_entries<int64_t>();
  for (const int64_t i : order) index = std::ranges::copy(row_of(i), index).out;
  call.outputs[0].set(
      make_sparse(std::move(indices), gather_items(all, order), Tensor::vector<int64_t>(sizes)));
}

}  // namespace

void add_sparse_concat_op(OpRegistry* registry) {
  OpDef op =
      ragged_op("sparse_concat", "sparse tensors joined along an axis", infer_concat, concat_row,
                {required("tensors", Param::Kind::tensors),
                 option("axis", Param::Kind::integer, Attr::integer(0)),
                 option("expand_nonconcat_dims", Param::Kind::boolean, Attr::boolean(false))});
  op.can_fail = true;
  registry->add(std::move(op));
}

}  // namespace penstock
