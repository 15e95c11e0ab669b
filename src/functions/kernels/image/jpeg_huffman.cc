#include "functions/kernels/image/jpeg_huffman.h"

#include <cstring>

namespace penstock {

bool HuffmanCode::is(const uint8_t* file_counts, const uint8_t* file_values) const {
  return std::memcmp(counts.data() + 1, file_counts + 1, 16) == 0 &&
         std::memcmp(values.data(), file_values, 256) == 0;
}

bool HuffmanCode::build(const uint8_t* file_counts, const uint8_t* file_values, bool of_dc) {
  std::memcpy(counts.data(), file_counts, 17);
  std::memcpy(values.data(), file_values, 256);
  looks.fill(0);
  int32_t code = 0, at = 0;
  for (int length = 1; length <= 16; ++length, code <<= 1) {
    const auto l = static_cast<size_t>(length);
    const int32_t count = counts[l];
    // All ones is no code, and there are not more than the bits can tell apart.
    if (at + count > 256 || (count > 0 && code + count >= (1 << length))) return false;
    offset[l] = at - code;
    most[l] = count == 0 ? -1 : code + count - 1;
    for (int32_t i = 0; i < count; ++i, ++code, ++at) {
      const uint8_t value = values[static_cast<size_t>(at)];
      if (of_dc && value > 15) return false;
      if (length > kLookBits) continue;
      const auto look = static_cast<uint16_t>(value << 8 | length);
      const auto spread = size_t{1} << (kLookBits - length);
      for (size_t k = 0; k < spread; ++k) looks[static_cast<size_t>(code) * spread + k] = look;
    }
  }
  return true;
}

namespace {

// Symbols are added until one does not end within the look.
AcLook coefficients(const HuffmanCode& code, uint64_t index) {
  const uint64_t all = index << (64 - kLookBits);
  int bits = 0, place = 0, count = 0, end = 0;
  int places[2] = {0, 0};
  int32_t values[2] = {0, 0};
  while (place < 64 && bits < kLookBits && end == 0) {
    const uint64_t rest = all << bits;
    const uint32_t symbol = code.looks[rest >> (64 - kLookBits)];
    const int length = static_cast<int>(symbol & 255), run = static_cast<int>(symbol >> 12);
    const int size = static_cast<int>(symbol >> 8 & 15);
    if (symbol == 0 || bits + length + size > kLookBits || (size > 0 && count == 2)) break;
    if (size == 0 && run != 15) end = kBlockEnd;
    if (size > 0) {
      places[count] = place + run;
      values[count++] = extended(rest << length, size);
    }
    bits += length + size;
    if (end == 0) place += run + 1;
  }
  if (bits == 0) return AcLook{kNoAdvance} << 8;
  if (count == 1) places[1] = places[0] + 1;
  const auto part = [](int32_t value, int at) {
    return static_cast<AcLook>(static_cast<uint16_t>(value)) << at;
  };
  return part(bits, 0) | part(place + end, 8) | part(places[0], 16) | part(places[1], 24) |
         part(values[0], 32) | part(values[1], 48);
}

uint16_t skipped(const HuffmanCode& code, uint64_t index) {
  uint64_t rest = index << (64 - kLookBits);
  int bits = 0, place = 0, end = 0;
  while (place < 64 && bits < kLookBits && end == 0) {
    const uint32_t symbol = code.looks[rest >> (64 - kLookBits)];
    const int length = static_cast<int>(symbol & 255), run = static_cast<int>(symbol >> 12);
    const int size = static_cast<int>(symbol >> 8 & 15);
    if (symbol == 0 || bits + length > kLookBits || bits + length + size > kMostSkipBits) break;
    bits += length + size;
    rest <<= length + size;
    if (size == 0 && run != 15) {
      end = kBlockEnd;
    } else {
      place += run + 1;
    }
  }
  if (bits == 0) return static_cast<uint16_t>(kNoAdvance << 8);
  return static_cast<uint16_t>((place + end) << 8 | bits);
}

}  // namespace

bool AcCode::build(const uint8_t* file_counts, const uint8_t* file_values) {
  if (!code.build(file_counts, file_values, false)) return false;
  for (uint64_t i = 0; i < looks.size(); ++i) {
    looks[i] = coefficients(code, i);
    skips[i] = skipped(code, i);
  }
  return true;
}

}  // namespace penstock
