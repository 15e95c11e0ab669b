// Counter-based random numbers: Philox (Salmon et al., SC 2011), and the hash that combines ids.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace penstock {

// Returns a well-mixed 64-bit function of both; not symmetric.
inline uint64_t mix(uint64_t a, uint64_t b) {
  uint64_t x = a * 0x9e3779b97f4a7c15ull + b + 0x632be59bd9b4e019ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

template <typename Word>
struct PhiloxConstants;
template <>
struct PhiloxConstants<uint32_t> {
  using Wide = uint64_t;
  static constexpr uint32_t kMultiply[] = {0xD2511F53, 0xCD9E8D57};
  static constexpr uint32_t kWeyl[] = {0x9E3779B9, 0xBB67AE85};
};
template <>
struct PhiloxConstants<uint64_t> {
  using Wide = unsigned __int128;
  static constexpr uint64_t kMultiply[] = {0xD2E7470EE14C6C93, 0xCA5A826395121157};
  static constexpr uint64_t kWeyl[] = {0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B};
};

// Returns one block of four words: Philox4x32, or Philox4x64 for 64-bit words.
template <typename Word>
std::array<Word, 4> philox(std::array<Word, 4> counter, std::array<Word, 2> key, int rounds = 10) {
  using C = PhiloxConstants<Word>;
  using Wide = typename C::Wide;
  constexpr int kBits = 8 * sizeof(Word);
  for (int round = 0; round < rounds; ++round) {
    const Wide a = Wide{C::kMultiply[0]} * counter[0];
    const Wide b = Wide{C::kMultiply[1]} * counter[2];
    counter = {static_cast<Word>(static_cast<Word>(b >> kBits) ^ counter[1] ^ key[0]),
               static_cast<Word>(b),
               static_cast<Word>(static_cast<Word>(a >> kBits) ^ counter[3] ^ key[1]),
               static_cast<Word>(a)};
    key[0] += C::kWeyl[0];
    key[1] += C::kWeyl[1];
  }
  return counter;
}

// Random numbers of one occurrence of a random op for one row. The stream starts at the same
// position whenever and wherever the row is computed.
class RandomStream {
 public:
  // `round` is the round of enclosing loops, 0 outside loops.
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
