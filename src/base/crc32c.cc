#include "base/crc32c.h"

#include <isa-l/crc.h>

#include <algorithm>

namespace penstock {

uint32_t crc32c(std::span<const std::byte> bytes) {
  constexpr size_t kMostAtOnce = 1 << 30;  // crc32_iscsi takes an int
  uint32_t crc = 0xffffffffu;
  do {
    const size_t size = std::min(bytes.size(), kMostAtOnce);
    // The function only reads; its parameter lacks the const.
    auto* data = reinterpret_cast<unsigned char*>(const_cast<std::byte*>(bytes.data()));
    crc = crc32_iscsi(data, static_cast<int>(size), crc);
    bytes = bytes.subspan(size);
  } while (!bytes.empty());
  return ~crc;
}

}  // namespace penstock
