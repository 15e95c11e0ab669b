// The places of many numbers in order, digit by digit: time that grows with their count alone.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "data/charged.h"

namespace penstock {

// From so many entries on it beats comparing.
inline constexpr int64_t kLeastForRadix = 2048;

// Unsigned numbers in the order of sort: -0 as 0, NaN behind all others.
template <typename T>
auto order_key(T v) {
  using Key = std::conditional_t<sizeof(T) <= 4, uint32_t, uint64_t>;
  if constexpr (std::is_floating_point_v<T>) {
    constexpr Key kSign = Key{1} << (8 * sizeof(T) - 1);
    if (v != v) return ~Key{0};
    const Key bits = v == 0 ? Key{0} : std::bit_cast<Key>(v);
    return (bits & kSign) != 0 ? static_cast<Key>(~bits) : static_cast<Key>(bits | kSign);
  } else if constexpr (std::is_signed_v<T>) {
    return static_cast<Key>(static_cast<Key>(v) ^ (Key{1} << (8 * sizeof(Key) - 1)));
  } else {
    return static_cast<Key>(v);
  }
}

// The places of the n entries `step` apart, equal ones in their order. REQUIRES n < 2^32.
template <typename T>
void radix_order(const T* line, int64_t n, int64_t step, bool descending,
                 ChargedVector<int64_t>* places) {
  using Key = decltype(order_key(T{}));
  constexpr int kBits = 11, kDigits = (8 * static_cast<int>(sizeof(Key)) + kBits - 1) / kBits;
  constexpr size_t kBuckets = size_t{1} << kBits;
  using Entry = std::pair<Key, uint32_t>;
  const auto size = static_cast<size_t>(n);
  ChargedVector<Entry> entries(size), other(size);
  std::vector<std::array<uint32_t, kBuckets>> counts(kDigits);
  const auto digit = [](Key key, int d) {
    return static_cast<size_t>(key >> (d * kBits)) & (kBuckets - 1);
  };
  for (size_t i = 0; i < size; ++i) {
    const Key key = order_key(line[static_cast<int64_t>(i) * step]);
    entries[i] = {descending ? static_cast<Key>(~key) : key, static_cast<uint32_t>(i)};
    for (int d = 0; d < kDigits; ++d) ++counts[static_cast<size_t>(d)][digit(entries[i].first, d)];
  }
  for (int d = 0; d < kDigits; ++d) {
    std::array<uint32_t, kBuckets>& count = counts[static_cast<size_t>(d)];
    if (count[digit(entries[0].first, d)] == n) continue;  // one digit for all
    uint32_t first = 0;
    for (uint32_t& c : count) first += std::exchange(c, first);
    for (const Entry& e : entries) other[count[digit(e.first, d)]++] = e;
    entries.swap(other);
  }
  places->resize(size);
  for (size_t i = 0; i < size; ++i) (*places)[i] = entries[i].second;
}

}  // namespace penstock
