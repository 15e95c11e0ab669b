// Tries in an array: a step is one load.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace penstock {

// Keys with their numbers, to be walked byte by byte. Immutable.
class DoubleArray {
 public:
  static constexpr int32_t kRoot = 0, kNone = -1;

  DoubleArray() : units_(1) {}
  // REQUIRES: no empty key and none twice; numbers from 0 on.
  explicit DoubleArray(std::vector<std::pair<std::string_view, int32_t>> keys);

  // The node behind `node` by a byte; kNone when no key goes on so.
  int32_t step(int32_t node, char byte) const {
    const int32_t next = units_[static_cast<size_t>(node)].base + static_cast<uint8_t>(byte);
    return units_[static_cast<size_t>(next)].parent == node ? next : kNone;
  }
  // The number of the key that ends here; kNone for none.
  int32_t number(int32_t node) const { return units_[static_cast<size_t>(node)].number; }

 private:
  struct Unit {
    int32_t base = 0;  // of the nodes behind it: that of byte b is at base + b
    int32_t parent = kNone;
    int32_t number = kNone;
  };
  using Keys = std::span<const std::pair<std::string_view, int32_t>>;
  void add(int32_t node, Keys keys, size_t depth);
  int32_t find_base(std::span<const uint8_t> bytes);

  std::vector<Unit> units_;  // 256 more than the last base
  int32_t first_free_ = 1;
};

// One that Darts wrote (SentencePiece's tables of characters): looked up where it lies.
class DartsView {
 public:
  DartsView() = default;
  // `units`: the array's bytes, little endian.
  explicit DartsView(std::string_view units) : units_(units) {}
  bool empty() const { return units_.empty(); }

  // The longest key that `text` begins with: its length, 0 for none, and its number.
  size_t longest(std::string_view text, int32_t* number) const;
  // Whether no key is this byte, or this and another byte of ASCII on.
  bool leaves_alone(char byte) const;

 private:
  uint32_t unit(uint32_t i) const;  // of no node, where there is none
  std::string_view units_;
};

}  // namespace penstock
