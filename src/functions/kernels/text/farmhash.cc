// Fingerprint64 of farmhashna: little endian words mixed by length class.

#include <bit>
#include <cstring>
#include <utility>

#include "functions/kernels/text/fingerprint.h"

namespace penstock {
namespace {

constexpr uint64_t k0 = 0xc3a5c85c97cb3127u;
constexpr uint64_t k1 = 0xb492b66fbe98f273u;
constexpr uint64_t k2 = 0x9ae16a3b2f90404fu;

static_assert(std::endian::native == std::endian::little);

uint64_t fetch64(const char* p) {
  uint64_t v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

uint64_t fetch32(const char* p) {
  uint32_t v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

uint64_t rotate(uint64_t v, int by) { return std::rotr(v, by); }
uint64_t shift_mix(uint64_t v) { return v ^ (v >> 47); }

uint64_t hash_pair(uint64_t u, uint64_t v, uint64_t mul) {
  const uint64_t a = shift_mix((u ^ v) * mul);
  return shift_mix((v ^ a) * mul) * mul;
}

uint64_t up_to_16(const char* s, uint64_t n) {
  if (n >= 8) {
    const uint64_t mul = k2 + n * 2;
    const uint64_t a = fetch64(s) + k2, b = fetch64(s + n - 8);
    return hash_pair(rotate(b, 37) * mul + a, (rotate(a, 25) + b) * mul, mul);
  }
  if (n >= 4) return hash_pair(n + (fetch32(s) << 3), fetch32(s + n - 4), k2 + n * 2);
  if (n == 0) return k2;
  auto byte = [s](uint64_t i) { return static_cast<uint32_t>(static_cast<uint8_t>(s[i])); };
  const uint32_t y = byte(0) + (byte(n >> 1) << 8);
  const uint32_t z = static_cast<uint32_t>(n) + (byte(n - 1) << 2);
  return shift_mix(y * k2 ^ z * k0) * k2;
}

uint64_t up_to_32(const char* s, uint64_t n) {
  const uint64_t mul = k2 + n * 2;
  const uint64_t a = fetch64(s) * k1, b = fetch64(s + 8);
  const uint64_t c = fetch64(s + n - 8) * mul, d = fetch64(s + n - 16) * k2;
  return hash_pair(rotate(a + b, 43) + rotate(c, 30) + d, a + rotate(b + k2, 18) + c, mul);
}

uint64_t up_to_64(const char* s, uint64_t n) {
  const uint64_t mul = k2 + n * 2;
  const uint64_t a = fetch64(s) * k2, b = fetch64(s + 8);
  const uint64_t c = fetch64(s + n - 8) * mul, d = fetch64(s + n - 16) * k2;
  const uint64_t y = rotate(a + b, 43) + rotate(c, 30) + d;
  const uint64_t z = hash_pair(y, a + rotate(b + k2, 18) + c, mul);
  const uint64_t e = fetch64(s + 16) * mul, f = fetch64(s + 24);
  const uint64_t g = (y + fetch64(s + n - 32)) * mul, h = (z + fetch64(s + n - 24)) * mul;
  return hash_pair(rotate(e + f, 43) + rotate(g, 30) + h, e + rotate(f + a, 18) + g, mul);
}

using Pair = std::pair<uint64_t, uint64_t>;

Pair weak_hash(const char* s, uint64_t a, uint64_t b) {
  const uint64_t w = fetch64(s), x = fetch64(s + 8), y = fetch64(s + 16), z = fetch64(s + 24);
  a += w;
  b = rotate(b + a + z, 21);
  const uint64_t c = a;
  a += x + y;
  b += rotate(a, 44);
  return {a + z, b + c};
}

uint64_t above_64(const char* s, uint64_t n) {
  constexpr uint64_t kSeed = 81;
  uint64_t x = kSeed * k2 + fetch64(s), y = kSeed * k1 + 113, z = shift_mix(y * k2 + 113) * k2;
  Pair v{0, 0}, w{0, 0};
  const char* const end = s + (n - 1) / 64 * 64;
  const char* const last = end + ((n - 1) & 63) - 63;
  auto mix = [&](uint64_t mul, uint64_t scale) {
    x = rotate(x + y + v.first + fetch64(s + 8), 37) * mul;
    y = rotate(y + v.second + fetch64(s + 48), 42) * mul;
    x ^= w.second * scale;
    y += v.first * scale + fetch64(s + 40);
    z = rotate(z + w.first, 33) * mul;
    v = weak_hash(s, v.second * mul, x + w.first);
    w = weak_hash(s + 32, z + w.second, y + fetch64(s + 16));
    std::swap(z, x);
  };
  do {
    mix(k1, 1);
    s += 64;
  } while (s != end);
  const uint64_t mul = k1 + ((z & 0xff) << 1);
  s = last;
  w.first += (n - 1) & 63;
  v.first += w.first;
  w.first += v.first;
  mix(mul, 9);
  return hash_pair(hash_pair(v.first, w.first, mul) + shift_mix(y) * k0 + z,
                   hash_pair(v.second, w.second, mul) + x, mul);
}

}  // namespace

uint64_t farm_fingerprint64(std::string_view text) {
  const uint64_t n = text.size();
  if (n <= 16) return up_to_16(text.data(), n);
  if (n <= 32) return up_to_32(text.data(), n);
  return n <= 64 ? up_to_64(text.data(), n) : above_64(text.data(), n);
}

}  // namespace penstock
