// Products of sizes that users and files give.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>

namespace penstock {

// Most entries that a shape has: their bytes fit in an int64, whatever the dtype.
inline constexpr int64_t kMostEntries = int64_t{1} << 56;

// Returns the product of sizes >= 0, or kMostEntries if it is larger. No buffer is that large: to
// allocate it, or to find as many bytes in a file, fails. The bytes of kMostEntries entries fit.
constexpr int64_t checked_product(std::span<const int64_t> sizes) {
  int64_t n = 1;
  for (const int64_t size : sizes) {
    if (size == 0) return 0;
    if (__builtin_mul_overflow(n, size, &n) || n > kMostEntries) n = kMostEntries;
  }
  return n;
}
constexpr int64_t checked_product(std::initializer_list<int64_t> sizes) {
  return checked_product(std::span(sizes.begin(), sizes.size()));
}

// Whether a shape may have these sizes: products of any of its axes fit, beside a 0 too. All other
// sizes make Dims throw.
constexpr bool are_shape_sizes(std::span<const int64_t> sizes) {
  int64_t n = 1;
  for (const int64_t size : sizes) {
    if (size > 0 && (__builtin_mul_overflow(n, size, &n) || n > kMostEntries)) return false;
  }
  return true;
}

}  // namespace penstock
