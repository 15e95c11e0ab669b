// Ops that make entry i from entries i of their broadcast inputs: one kernel over arrays serves
// rows and blocks, in which rows are one more axis.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "base/wide.h"
#include "data/charged.h"
#include "functions/kernels/math/broadcast.h"
#include "functions/op.h"

namespace penstock {

// Inputs in the computing dtype, walked by the plan.
struct EntrywiseCall {
  const BroadcastPlan& plan;
  DType dtype;
  std::array<const std::byte*, BroadcastPlan::kMaxInputs> in;
  std::array<int64_t, BroadcastPlan::kMaxInputs> in_entries;
  std::byte* out;
};

struct EntrywiseKernel {
  std::string_view name;
  int inputs;
  // What the inputs are converted to, from their dtypes and that of the output.
  DType (*compute)(std::span<const DType> inputs, DType output);
  // bool, or what it computes in.
  bool gives_bool;
  // Null: the op only changes the dtype.
  void (*run)(const EntrywiseCall& call);
  // Whether an entry of the last input makes its row fail; null when none does. `run` gives 0
  // there.
  bool (*fails)(DType dtype, const std::byte* last, int64_t entries) = nullptr;
  std::string_view failure = {};
};

void run_entrywise_row(const EntrywiseKernel& kernel, const RowCall& call);
bool run_entrywise_block(const EntrywiseKernel& kernel, const BlockCall& call);

template <const EntrywiseKernel& kernel>
void entrywise_row(const RowCall& call) {
  run_entrywise_row(kernel, call);
}
template <const EntrywiseKernel& kernel>
bool entrywise_block(const BlockCall& call) {
  return run_entrywise_block(kernel, call);
}

// The dtype that all inputs meet in, halves as float32.
DType common_compute_dtype(std::span<const DType> inputs, DType output);

// Whether an integer is zero; whether one is negative. For EntrywiseKernel::fails.
bool any_zero_integer(DType dtype, const std::byte* last, int64_t entries);
bool any_negative(DType dtype, const std::byte* last, int64_t entries);

// "is bool, expected numbers": throws TypeError unless input i holds numbers.
const LeafSpec& infer_number(const InferContext& context, int i);
// The dtype that inputs i and j meet in; throws TypeError naming the cast.
DType infer_promoted(const InferContext& context, int i, int j);

// All inputs are numbers that meet in one dtype, which the broadcast result has.
Spec infer_entrywise(const InferContext& context);
// An op of one parameter x, or of two, a and b, typed by infer_entrywise.
OpDef entrywise_op(const EntrywiseKernel& kernel, std::string doc, RowKernel row,
                   BlockKernel block);
template <const EntrywiseKernel& kernel>
OpDef entrywise_op(std::string doc) {
  return entrywise_op(kernel, std::move(doc), entrywise_row<kernel>, entrywise_block<kernel>);
}

// Runs Op::apply over the entries of the only input.
template <typename Op, typename T, typename R = T>
PENSTOCK_WIDE void run_unary(const EntrywiseCall& call) {
  const T* __restrict in = reinterpret_cast<const T*>(call.in[0]);
  R* __restrict out = reinterpret_cast<R*>(call.out);
  const int64_t n = call.in_entries[0];
  for (int64_t i = 0; i < n; ++i) out[i] = Op::apply(in[i]);
}

// One run of two arrays of which each advances or stays.
template <typename Op, typename T, typename R>
PENSTOCK_WIDE void run_pair(const T* __restrict a, bool steps_a, const T* __restrict b,
                            bool steps_b, R* __restrict out, int64_t n) {
  if (steps_a && steps_b) {
    for (int64_t i = 0; i < n; ++i) out[i] = Op::apply(a[i], b[i]);
  } else if (steps_a) {
    const T right = *b;
    for (int64_t i = 0; i < n; ++i) out[i] = Op::apply(a[i], right);
  } else {
    const T left = *a;
    for (int64_t i = 0; i < n; ++i) out[i] = Op::apply(left, b[steps_b ? i : 0]);
  }
}

template <typename Op, typename T, typename R>
void run_binary(const EntrywiseCall& call) {
  const auto* a = reinterpret_cast<const T*>(call.in[0]);
  const auto* b = reinterpret_cast<const T*>(call.in[1]);
  auto* out = reinterpret_cast<R*>(call.out);
  const BroadcastPlan& plan = call.plan;
  // Short runs over a repeated table: over a longer table, which holds it several times.
  constexpr int64_t kShort = 64;
  for (int i = 0; i < 2; ++i) {
    const int64_t period = plan.table_size(i);
    if (period == 0 || period >= kShort || plan.entries() < 8 * kShort) continue;
    ChargedVector<T> table(static_cast<size_t>(period * (4 * kShort / period)));
    const T* from = i == 0 ? a : b;
    for (size_t k = 0; k < table.size(); ++k) table[k] = from[k % static_cast<size_t>(period)];
    const auto step = static_cast<int64_t>(table.size());
    for (int64_t at = 0; at < plan.entries(); at += step) {
      const int64_t n = std::min(step, plan.entries() - at);
      if (i == 0) {
        run_pair<Op, T, R>(table.data(), true, b + at, true, out + at, n);
      } else {
        run_pair<Op, T, R>(a + at, true, table.data(), true, out + at, n);
      }
    }
    return;
  }
  const bool steps_a = plan.steps(0), steps_b = plan.steps(1);
  plan.for_each_run([&](int64_t to, int64_t n, const auto& at) {
    run_pair<Op, T, R>(a + at[0], steps_a, b + at[1], steps_b, out + to, n);
  });
}

}  // namespace penstock
