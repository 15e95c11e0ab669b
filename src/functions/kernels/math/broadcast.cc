#include "functions/kernels/math/broadcast.h"

#include <algorithm>

namespace penstock {
namespace {

std::optional<Dims> joined_dims(const Dims& a, const Dims& b) {
  const int rank = std::max(a.rank(), b.rank());
  Dims out;
  for (int i = 0; i < rank; ++i) {
    const int ia = i - (rank - a.rank()), ib = i - (rank - b.rank());
    const int64_t sa = ia < 0 ? 1 : a[ia], sb = ib < 0 ? 1 : b[ib];
    if (sa != sb && sa != 1 && sb != 1) return std::nullopt;
    out.push_back(sa == 1 ? sb : sa);
  }
  return out;
}

}  // namespace

std::optional<BroadcastPlan> BroadcastPlan::make(std::span<const Extents> inputs) {
  BroadcastPlan plan;
  plan.inputs_ = static_cast<int>(inputs.size());
  int rank = 0;
  for (const Extents& e : inputs) rank = std::max(rank, e.rank);
  std::array<int64_t, Extents::kMax> sizes;
  sizes.fill(1);
  for (int axis = 0; axis < rank; ++axis) {
    int64_t& size = sizes[static_cast<size_t>(axis)];
    for (const Extents& e : inputs) {
      const int own = axis - (rank - e.rank);
      const int64_t s = own < 0 ? 1 : e.size[static_cast<size_t>(own)];
      if (s == 1 || s == size) continue;
      if (size != 1) return std::nullopt;
      size = s;
    }
    plan.entries_ *= size;
  }
  std::array<std::array<int64_t, Extents::kMax>, kMaxInputs> strides{};
  for (size_t i = 0; i < inputs.size(); ++i) {
    int64_t stride = 1;
    for (int axis = rank - 1; axis >= 0; --axis) {
      const int own = axis - (rank - inputs[i].rank);
      const int64_t s = own < 0 ? 1 : inputs[i].size[static_cast<size_t>(own)];
      strides[i][static_cast<size_t>(axis)] = s == 1 ? 0 : stride;
      stride *= s;
    }
  }
  for (int axis = 0; axis < rank; ++axis) {
    const auto a = static_cast<size_t>(axis);
    if (sizes[a] == 1) continue;
    const int last = plan.rank_ - 1;
    bool joins = last >= 0;
    for (size_t i = 0; joins && i < inputs.size(); ++i) {
      joins = plan.strides_[i][static_cast<size_t>(last)] == strides[i][a] * sizes[a];
    }
    const auto to = static_cast<size_t>(joins ? last : plan.rank_++);
    plan.sizes_[to] = joins ? plan.sizes_[to] * sizes[a] : sizes[a];
    for (size_t i = 0; i < inputs.size(); ++i) plan.strides_[i][to] = strides[i][a];
  }
  return plan;
}

BroadcastPlan BroadcastPlan::flat(int64_t n, std::span<const bool> steps) {
  BroadcastPlan plan;
  plan.inputs_ = static_cast<int>(steps.size());
  plan.rank_ = 1;
  plan.entries_ = plan.sizes_[0] = n;
  for (size_t i = 0; i < steps.size(); ++i) plan.strides_[i][0] = steps[i] ? 1 : 0;
  return plan;
}

int64_t BroadcastPlan::table_size(int i) const {
  if (rank_ != 2 || stride(i, 0) != 0 || stride(i, 1) != 1) return 0;
  for (int k = 0; k < inputs_; ++k) {
    if (k != i && (stride(k, 0) != sizes_[1] || stride(k, 1) != 1)) return 0;
  }
  return sizes_[1];
}

Shape broadcast_shapes(const Shape& a, const Shape& b, bool* ok) {
  *ok = true;
  if (!a.has_rank() || !b.has_rank()) return Shape::unknown_rank();
  const int rank = std::max(a.rank(), b.rank());
  std::vector<int64_t> out;  // bounded: axes
  for (int i = 0; i < rank; ++i) {
    const int ia = i - (rank - a.rank()), ib = i - (rank - b.rank());
    const int64_t sa = ia < 0 ? 1 : a[ia], sb = ib < 0 ? 1 : b[ib];
    if (sa == 1 || sa == sb) {
      out.push_back(sb);
    } else if (sb == 1) {
      out.push_back(sa);
    } else if (sa == Shape::kUnknown || sb == Shape::kUnknown) {
      out.push_back(sa == Shape::kUnknown ? sb : sa);
    } else {
      *ok = false;
      out.push_back(Shape::kUnknown);
    }
  }
  return Shape(std::move(out));
}

Shape infer_broadcast(const InferContext& context, int i, int j) {
  const Shape &a = context.tensor(i).shape, &b = context.tensor(j).shape;
  bool ok = true;
  Shape out = broadcast_shapes(a, b, &ok);
  if (!ok) {
    context.fail(
        i, "has shape " + a.text() + ", the other side " + b.text() + ": these do not broadcast");
  }
  return out;
}

Dims broadcast_dims(std::string_view op, const Dims& a, const Dims& b) {
  if (const auto out = joined_dims(a, b)) return *out;
  throw Error(Code::invalid_argument,
              std::string(op) + ": shapes " + a.text() + " and " + b.text() + " do not broadcast");
}

std::optional<BatchedInputs> batch_inputs(const BlockCall& call) {
  BatchedInputs out;
  for (const Column& column : call.inputs) {
    const bool constant = column.kind() == Column::Kind::constant;
    if (!constant && column.kind() != Column::Kind::dense) return std::nullopt;
    out.all_constant &= constant;
    const auto dims = joined_dims(out.row_dims, column.row_dims());
    if (!dims) return std::nullopt;
    out.row_dims = *dims;
  }
  out.result_rows = out.all_constant ? 1 : call.rows;
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    const Column& column = call.inputs[i];
    Extents& e = out.extents[i];
    e.push_back(column.kind() == Column::Kind::constant ? 1 : call.rows);
    for (int k = column.row_dims().rank(); k < out.row_dims.rank(); ++k) e.push_back(1);
    for (const int64_t s : column.row_dims().sizes()) e.push_back(s);
  }
  return out;
}

}  // namespace penstock
