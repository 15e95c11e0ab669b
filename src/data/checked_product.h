// Products of sizes that come from users and files.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>

namespace penstock {

// Most entries of a shape: their bytes fit in an int64 for any dtype.
inline constexpr int64_t kMostEntries = int64_t{1} << 56;

// Returns the product of sizes >= 0, or kMostEntries if it is larger. No buffer is that large, so
// allocating it, or finding that many bytes in a file, fails. The bytes of kMostEntries entries
// fit.
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

// Returns whether a shape may have these sizes: products of any of its axes fit, even next to a 0.
// All other sizes make Dims throw.
constexpr bool are_shape_sizes(std::span<const int64_t> sizes) {
  int64_t n = 1;
  for (const int64_t size : sizes) {
    if (size > 0 && (__builtin_mul_overflow(n, size, &n) || n > kMostEntries)) return false;
  }
  return true;
}

}  // namespace penstock
