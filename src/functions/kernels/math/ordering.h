// The order that sorting and searching go by.
#pragma once

#include "data/dtype.h"
#include "functions/kernels/math/promotion.h"

namespace penstock {

// Bytes by their values; NaN behind all other numbers.
template <typename T>
bool comes_before(const T& a, const T& b) {
  if constexpr (std::is_same_v<T, BytesView>) {
    return a.view() < b.view();
  } else {
    return a < b || (b != b && a == a);
  }
}

// Calls f(TypeTag<T>{}) for bytes and what visit_number takes.
template <typename F>
void visit_ordered(DType dtype, F&& f) {
  if (dtype == DType::bytes) return f(TypeTag<BytesView>{});
  visit_number(dtype, f);
}

}  // namespace penstock
