// Copies with strides: what transposes, slices, reverses, repeats.
#pragma once

#include <array>
#include <functional>

#include "functions/op.h"

namespace penstock {

// Entries of an array in another order: sizes of the result, and how far apart its neighbours along
// each axis lie in the source (in entries; zero repeats, negative runs backwards).
struct StridedView {
  static constexpr int kMax = 2 * kMaxRank + 2;
  int rank = 0;
  std::array<int64_t, kMax> size{};
  std::array<int64_t, kMax> stride{};
  int64_t first = 0;

  void push_back(int64_t s, int64_t step) {
    size[static_cast<size_t>(rank)] = s;
    stride[static_cast<size_t>(rank++)] = step;
  }
  int64_t entries() const {
    int64_t n = 1;
    for (int i = 0; i < rank; ++i) n *= size[static_cast<size_t>(i)];
    return n;
  }
  // All axes of an array of these dims in order.
  static StridedView of(const Dims& dims);
  // Whether the result is the source's entries from `first` on as they lie.
  bool contiguous() const;
};

void copy_strided(const std::byte* from, const StridedView& view, int64_t entry_bytes,
                  std::byte* to);

// The result of a row: the input's own bytes where the view is contiguous, else a copy.
void set_strided(OutputSlot* slot, const Tensor& from, const StridedView& view, const Dims& dims);
// The same for each row of a dense or constant column; false for other columns.
bool set_strided_block(const BlockCall& call, const StridedView& view, const Dims& dims);

}  // namespace penstock
