// Broadcasting: shapes at build, and how arrays are walked together.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string_view>

#include "functions/op.h"

namespace penstock {

// Sizes of an array with one axis more than tensors have: the rows of a block.
struct Extents {
  static constexpr int kMax = kMaxRank + 1;
  std::array<int64_t, kMax> size{};
  int rank = 0;

  Extents() = default;
  explicit Extents(const Dims& dims) {
    for (const int64_t s : dims.sizes()) push_back(s);
  }
  void push_back(int64_t s) { size[static_cast<size_t>(rank++)] = s; }
  int64_t entries() const {
    int64_t n = 1;
    for (int i = 0; i < rank; ++i) n *= size[static_cast<size_t>(i)];
    return n;
  }
};

// Up to three row-major arrays walked together in the order of the broadcast result. Axes along
// which all of them advance alike are joined, so equal shapes are one run.
class BroadcastPlan {
 public:
  static constexpr int kMaxInputs = 3;
  // None when the shapes do not broadcast.
  static std::optional<BroadcastPlan> make(std::span<const Extents> inputs);
  // n entries, of each input as many (true) or one that stays.
  static BroadcastPlan flat(int64_t n, std::span<const bool> steps);

  int64_t entries() const { return entries_; }
  // Within a run input i advances (true) or stays.
  bool steps(int i) const { return rank_ == 0 || stride(i, rank_ - 1) == 1; }
  // The period of input i where it repeats along the last axis while all others run through; else
  // 0.
  int64_t table_size(int i) const;

  // f(first entry of the result, entries, first entry of each input) for each run.
  template <typename F>
  void for_each_run(F&& f) const {
    if (entries_ == 0) return;
    const int64_t n = rank_ == 0 ? 1 : sizes_[static_cast<size_t>(rank_ - 1)];
    std::array<int64_t, Extents::kMax> index{};
    std::array<int64_t, kMaxInputs> at{};
    for (int64_t out = 0;; out += n) {
      f(out, n, at);
      int axis = rank_ - 2;
      for (; axis >= 0; --axis) {
        const auto a = static_cast<size_t>(axis);
        for (int i = 0; i < inputs_; ++i) at[static_cast<size_t>(i)] += stride(i, axis);
        if (++index[a] < sizes_[a]) break;
        for (int i = 0; i < inputs_; ++i) at[static_cast<size_t>(i)] -= stride(i, axis) * sizes_[a];
        index[a] = 0;
      }
      if (axis < 0) return;
    }
  }

 private:
  int64_t stride(int i, int axis) const {
    return strides_[static_cast<size_t>(i)][static_cast<size_t>(axis)];
  }
  int inputs_ = 0;
  int rank_ = 0;
  int64_t entries_ = 1;
  std::array<int64_t, Extents::kMax> sizes_{};
  std::array<std::array<int64_t, Extents::kMax>, kMaxInputs> strides_{};
};

// ? and 1 give ?, ? and n > 1 give n; `ok` is false when they cannot broadcast.
Shape broadcast_shapes(const Shape& a, const Shape& b, bool* ok);
// The broadcast shape of inputs i and j; throws TypeError.
Shape infer_broadcast(const InferContext& context, int i, int j);
// Throws Error{INVALID_ARGUMENT} when they do not broadcast.
Dims broadcast_dims(std::string_view op, const Dims& a, const Dims& b);

// The inputs of a block kernel with their rows as one more axis.
struct BatchedInputs {
  std::array<Extents, BroadcastPlan::kMaxInputs> extents;
  Dims row_dims;  // of the result
  bool all_constant = true;
  int64_t result_rows = 0;  // 1 when all are constant
};
// None for other kinds of columns than dense and constant, or shapes that do not broadcast.
std::optional<BatchedInputs> batch_inputs(const BlockCall& call);

}  // namespace penstock
