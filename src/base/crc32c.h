// CRC-32C (Castagnoli), as in TFRecord files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace penstock {

// Returns the checksum of `bytes`, using the CPU's instructions if present.
uint32_t crc32c(std::span<const std::byte> bytes);

// TFRecord masks stored checksums, because a checksum of data that contains checksums is weak.
constexpr uint32_t mask_crc(uint32_t crc) { return ((crc >> 15) | (crc << 17)) + 0xa282ead8u; }
constexpr uint32_t unmask_crc(uint32_t masked) {
  const uint32_t rotated = masked - 0xa282ead8u;
  return (rotated >> 17) | (rotated << 15);
}

}  // namespace penstock
