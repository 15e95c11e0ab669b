#include "functions/kernels/math/take_items.h"

#include <cstring>

#include "functions/kernels/math/shape_arguments.h"

namespace penstock {

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
  for (int64_t o = 0; o < outer; ++o) {
    const std::byte* from = x.data() + o * size * inner;
    for (const int64_t i : at) {
      std::memcpy(to, from + i * inner, static_cast<size_t>(inner));
      to += inner;
    }
  }
}

}  // namespace penstock
