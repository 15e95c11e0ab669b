#include "functions/kernels/math/take_items.h"

#include <cstring>

#include "functions/kernels/math/shape_arguments.h"

namespace penstock {
namespace {

// Items of a known size need no call to copy them.
template <int64_t kSize>
std::byte* copy_items(const std::byte* from, std::span<const int64_t> at, std::byte* to) {
  for (const int64_t i : at) {
    std::memcpy(to, from + i * kSize, kSize);
    to += kSize;
  }
  return to;
}

std::byte* copy_items(const std::byte* from, std::span<const int64_t> at, int64_t size,
                      std::byte* to) {
  switch (size) {
    case 1: return copy_items<1>(from, at, to);
    case 2: return copy_items<2>(from, at, to);
    case 4: return copy_items<4>(from, at, to);
    case 8: return copy_items<8>(from, at, to);
    case 16: return copy_items<16>(from, at, to);
    default: break;
  }
  for (const int64_t i : at) {
    std::memcpy(to, from + i * size, static_cast<size_t>(size));
    to += size;
  }
  return to;
}

}  // namespace

void take_items(OutputSlot* slot, const Tensor& x, int axis, std::span<const int64_t> at,
                const Dims& shape) {
  int64_t outer = 1, inner = dtype_size(x.dtype());
  Dims dims;
  for (int i = 0; i < axis; ++i) {
    outer *= x.dims()[i];
    dims.push_back(x.dims()[i]);
  }
  for (const int64_t s : shape.sizes()) dims.push_back(s);
  for (int i = axis + 1; i < x.dims().rank(); ++i) {
    inner *= x.dims()[i];
    dims.push_back(x.dims()[i]);
  }
  check_size("gather", dims, x.dtype());
  const int64_t size = x.dims()[axis];
  std::byte* to = slot->allocate(dims);
  share_strings(slot, x);
  if (inner == 0) return;
  for (int64_t o = 0; o < outer; ++o) to = copy_items(x.data() + o * size * inner, at, inner, to);
}

}  // namespace penstock
