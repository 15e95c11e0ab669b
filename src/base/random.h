// Counter-based random numbers: Philox4x32-10 (Salmon et al., SC 2011), and the hash that joins
// ids.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace penstock {

// A well-mixed 64-bit function of both; not symmetric.
inline uint64_t mix(uint64_t a, uint64_t b) {
  uint64_t x = a * 0x9e3779b97f4a7c15ull + b + 0x632be59bd9b4e019ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

inline std::array<uint32_t, 4> philox(std::array<uint32_t, 4> counter,
                                      std::array<uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = uint64_t{0xD2511F53} * counter[0];
    const uint64_t b = uint64_t{0xCD9E8D57} * counter[2];
    counter = {static_cast<uint32_t>(b >> 32) ^ counter[1] ^ key[0], static_cast<uint32_t>(b),
               static_cast<uint32_t>(a >> 32) ^ counter[3] ^ key[1], static_cast<uint32_t>(a)};
    key[0] += 0x9E3779B9u;
    key[1] += 0xBB67AE85u;
  }
  return counter;
}

// The draws of one occurrence of a random op for one row: a stream that starts at the same place
// whenever and wherever the row is made.
class RandomStream {
 public:
  // `round` counts the rounds of enclosing loops, 0 outside loops.
  RandomStream(uint64_t seed, uint64_t epoch, uint64_t lineage, uint32_t round = 0)
      : key_{low(epoch == 0 ? seed : mix(seed, epoch)), high(epoch == 0 ? seed : mix(seed, epoch))},
        counter_{0, round, low(lineage), high(lineage)} {}

  uint32_t next_uint32() {
    if (used_ == 4) {
      values_ = philox(counter_, key_);
      ++counter_[0];
      used_ = 0;
    }
    return values_[used_++];
  }
  uint64_t next_uint64() {
    const uint64_t high_half = next_uint32();
    return (high_half << 32) | next_uint32();
  }
  // In [0, 1), 24 bits.
  float next_float() { return static_cast<float>(next_uint32() >> 8) * 0x1p-24f; }
  // In [0, 1), 53 bits.
  double next_double() { return static_cast<double>(next_uint64() >> 11) * 0x1p-53; }
  // In [0, bound) without bias (Lemire). REQUIRES bound > 0.
  uint64_t next_below(uint64_t bound) {
    for (;;) {
      const unsigned __int128 product = static_cast<unsigned __int128>(next_uint64()) * bound;
      const auto fraction = static_cast<uint64_t>(product);
      if (fraction >= bound || fraction >= (0 - bound) % bound)
        return static_cast<uint64_t>(product >> 64);
    }
  }

 private:
  static uint32_t low(uint64_t v) { return static_cast<uint32_t>(v); }
  static uint32_t high(uint64_t v) { return static_cast<uint32_t>(v >> 32); }

  std::array<uint32_t, 2> key_;
  std::array<uint32_t, 4> counter_;
  std::array<uint32_t, 4> values_{};
  size_t used_ = 4;
};

}  // namespace penstock
