// An array seen around one axis: [outer, size, inner].
#pragma once

#include "data/shape.h"

namespace penstock {

struct Around {
  int64_t outer = 1, size = 1, inner = 1;

  int64_t lines() const { return outer * inner; }
  // Where line `i` begins; its entries are `inner` apart.
  int64_t line(int64_t i) const { return (i / inner) * size * inner + i % inner; }
};

inline Around around(const Dims& dims, int axis) {
  Around out;
  for (int i = 0; i < axis; ++i) out.outer *= dims[i];
  out.size = dims[axis];
  for (int i = axis + 1; i < dims.rank(); ++i) out.inner *= dims[i];
  return out;
}

}  // namespace penstock
