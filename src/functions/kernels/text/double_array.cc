#include "functions/kernels/text/double_array.h"

#include <algorithm>
#include <cstring>

#include "data/charged.h"

namespace penstock {

DoubleArray::DoubleArray(std::vector<std::pair<std::string_view, int32_t>> keys) {
  std::ranges::sort(keys);
  units_.resize(257);
  units_[0].parent = 0;
  add(kRoot, keys, 0);
}

void DoubleArray::add(int32_t node, Keys keys, size_t depth) {
  ChargedVector<uint8_t> bytes;
  for (const auto& [key, number] : keys) {
    if (key.size() == depth) {
      units_[static_cast<size_t>(node)].number = number;
    } else if (const auto byte = static_cast<uint8_t>(key[depth]);
               bytes.empty() || bytes.back() != byte) {
      bytes.push_back(byte);
    }
  }
  if (bytes.empty()) return;
  const int32_t base = find_base(bytes);
  units_[static_cast<size_t>(node)].base = base;
  for (const uint8_t byte : bytes) units_[static_cast<size_t>(base + byte)].parent = node;
  size_t at = keys[0].first.size() == depth ? 1 : 0;
  for (const uint8_t byte : bytes) {
    size_t end = at;
    while (end < keys.size() && static_cast<uint8_t>(keys[end].first[depth]) == byte) ++end;
    add(base + byte, keys.subspan(at, end - at), depth + 1);
    at = end;
  }
}

int32_t DoubleArray::find_base(std::span<const uint8_t> bytes) {
  const auto taken = [this](int32_t i) { return units_[static_cast<size_t>(i)].parent != kNone; };
  while (static_cast<size_t>(first_free_) < units_.size() && taken(first_free_)) ++first_free_;
  for (int32_t base = std::max(1, first_free_ - bytes[0]);; ++base) {
    if (units_.size() < static_cast<size_t>(base) + 256)
      units_.resize(std::max(2 * units_.size(), static_cast<size_t>(base) + 256));
    if (std::ranges::none_of(bytes, [&](uint8_t byte) { return taken(base + byte); })) return base;
  }
}

// Of a unit of Darts-clone: bit 31 and the low byte are its label, bit 8 says that a key ends
// there, bits 10 on are the offset of those behind it, times 256 where bit 9 is set. Where a key
// ends the unit at the offset is the number.
uint32_t DartsView::unit(uint32_t i) const {
  uint32_t out = UINT32_MAX;
  if (i < units_.size() / 4) std::memcpy(&out, units_.data() + size_t{i} * 4, 4);
  return out;
}

namespace {

uint32_t offset_of(uint32_t unit) { return (unit >> 10) << ((unit & (1U << 9)) >> 6); }
uint32_t label_of(uint32_t unit) { return unit & ((1U << 31) | 0xFF); }

}  // namespace

bool DartsView::leaves_alone(char byte) const {
  if (empty()) return true;
  const auto label = static_cast<uint8_t>(byte);
  const uint32_t at = offset_of(unit(0)) ^ label, here = unit(at);
  if (label_of(here) != label) return true;
  if ((here >> 8 & 1) != 0) return false;
  for (uint32_t next = 0; next < 128; ++next) {
    if (label_of(unit(at ^ offset_of(here) ^ next)) == next) return false;
  }
  return true;
}

size_t DartsView::longest(std::string_view text, int32_t* number) const {
  if (empty()) return 0;
  size_t found = 0;
  uint32_t at = offset_of(unit(0));
  for (size_t i = 0; i < text.size(); ++i) {
    const auto label = static_cast<uint8_t>(text[i]);
    at ^= label;
    const uint32_t here = unit(at);
    if (label_of(here) != label) break;
    at ^= offset_of(here);
    if ((here >> 8 & 1) == 0) continue;
    *number = static_cast<int32_t>(unit(at) & ((1U << 31) - 1));
    found = i + 1;
  }
  return found;
}

}  // namespace penstock
