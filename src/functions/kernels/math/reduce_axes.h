// Reductions over some axes of an array: which axes, how the array is walked, and the kernels of
// ops.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "functions/kernels/math/broadcast.h"
#include "functions/op.h"

namespace penstock {

// An array as alternating kept and reduced axes, neighbours of one kind joined.
struct Walk {
  int rank = 0;
  std::array<int64_t, Extents::kMax> size{};
  std::array<int64_t, Extents::kMax> out_stride{};  // 0: reduced
  int64_t results = 1;
  int64_t reduced = 1;  // entries for each result
};

// acc after n entries in a row. With more than one lane, entries are taken up in any order: `take`
// must not mind, and must take up what it gives.
template <int kLanes, typename T, typename Acc, typename F>
Acc reduce_line(const T* in, int64_t n, Acc acc, F take) {
  int64_t i = 0;
  if constexpr (kLanes > 1) {
    if (n >= 2 * kLanes) {
      std::array<Acc, kLanes> lanes;
      std::copy_n(in, kLanes, lanes.begin());
      for (i = kLanes; i + kLanes <= n; i += kLanes) {
        for (size_t k = 0; k < kLanes; ++k)
          lanes[k] = take(lanes[k], in[i + static_cast<int64_t>(k)]);
      }
      for (const Acc lane : lanes) acc = take(acc, lane);
    }
  }
  for (; i < n; ++i) acc = take(acc, in[i]);
  return acc;
}

// out, filled with the start value, takes up all entries.
template <int kLanes = 1, typename T, typename Acc, typename F>
void reduce(const T* in, const Walk& w, Acc* out, F take) {
  if (w.results == 0 || w.reduced == 0) return;
  if (w.rank == 0) {
    *out = take(*out, *in);
    return;
  }
  const auto last = static_cast<size_t>(w.rank - 1);
  const int64_t n = w.size[last];
  std::array<int64_t, Extents::kMax> index{};
  for (;;) {
    if (w.out_stride[last] == 0) {
      *out = reduce_line<kLanes>(in, n, *out, take);
    } else {
      for (int64_t i = 0; i < n; ++i) out[i] = take(out[i], in[i]);
    }
    in += n;
    int axis = w.rank - 2;
    for (; axis >= 0; --axis) {
      const auto a = static_cast<size_t>(axis);
      out += w.out_stride[a];
      if (++index[a] < w.size[a]) break;
      out -= w.out_stride[a] * w.size[a];
      index[a] = 0;
    }
    if (axis < 0) return;
  }
}

// walk.results entries of the dtype that came in, from all of them. Halves come and go as float32.
struct ReduceCall {
  DType dtype;
  const std::byte* in;
  const Walk& walk;
  std::byte* out;
};

struct ReduceKernel {
  std::string_view name;
  void (*run)(const ReduceCall& call);
};

void run_reduce_row(const ReduceKernel& kernel, const RowCall& call);
bool run_reduce_block(const ReduceKernel& kernel, const BlockCall& call);

template <const ReduceKernel& kernel>
void reduce_row(const RowCall& call) {
  run_reduce_row(kernel, call);
}
template <const ReduceKernel& kernel>
bool reduce_block(const BlockCall& call) {
  return run_reduce_block(kernel, call);
}

// The shape that is left of `shape`; throws TypeError.
Shape infer_reduced(const InferContext& context, const Shape& shape);
// An op of x, axis (none: all) and keepdims, on numbers, which keeps their dtype.
OpDef reduce_op(const ReduceKernel& kernel, std::string doc, RowKernel row, BlockKernel block);
template <const ReduceKernel& kernel>
OpDef reduce_op(std::string doc) {
  return reduce_op(kernel, std::move(doc), reduce_row<kernel>, reduce_block<kernel>);
}

}  // namespace penstock
