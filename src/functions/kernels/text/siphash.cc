// SipHash-2-4 (Aumasson, Bernstein), and MurmurHash64A (Appleby).

#include <bit>
#include <cstring>

#include "functions/kernels/text/fingerprint.h"

namespace penstock {
namespace {

uint64_t word_at(const char* p) {
  uint64_t v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

// The up to seven bytes behind the last whole word.
uint64_t rest_of(std::string_view text) {
  uint64_t out = 0;
  const size_t n = text.size() % 8;
  if (n > 0) std::memcpy(&out, text.data() + text.size() - n, n);
  return out;
}

struct Sip {
  uint64_t v0, v1, v2, v3;
  void round() {
    v0 += v1;
    v1 = std::rotl(v1, 13) ^ v0;
    v0 = std::rotl(v0, 32);
    v2 += v3;
    v3 = std::rotl(v3, 16) ^ v2;
    v0 += v3;
    v3 = std::rotl(v3, 21) ^ v0;
    v2 += v1;
    v1 = std::rotl(v1, 17) ^ v2;
    v2 = std::rotl(v2, 32);
  }
  void add(uint64_t word) {
    v3 ^= word;
    round();
    round();
    v0 ^= word;
  }
};

}  // namespace

uint64_t sip_hash(std::string_view text, uint64_t key0, uint64_t key1) {
  Sip sip{key0 ^ 0x736f6d6570736575u, key1 ^ 0x646f72616e646f6du, key0 ^ 0x6c7967656e657261u,
          key1 ^ 0x7465646279746573u};
  for (size_t i = 0; i + 8 <= text.size(); i += 8) sip.add(word_at(text.data() + i));
  sip.add(static_cast<uint64_t>(text.size()) << 56 | rest_of(text));
  sip.v2 ^= 0xff;
  for (int i = 0; i < 4; ++i) sip.round();
  return sip.v0 ^ sip.v1 ^ sip.v2 ^ sip.v3;
}

uint64_t legacy_hash64(std::string_view text) {
  constexpr uint64_t kSeed = 0xDECAFCAFFE, kMul = 0xc6a4a7935bd1e995;
  uint64_t h = kSeed ^ (text.size() * kMul);
  for (size_t i = 0; i + 8 <= text.size(); i += 8) {
    uint64_t word = word_at(text.data() + i) * kMul;
    word = (word ^ word >> 47) * kMul;
    h = (h ^ word) * kMul;
  }
  if (text.size() % 8 > 0) h = (h ^ rest_of(text)) * kMul;
  h = (h ^ h >> 47) * kMul;
  return h ^ h >> 47;
}

}  // namespace penstock
