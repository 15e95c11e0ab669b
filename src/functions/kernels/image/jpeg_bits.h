// The bits of a JPEG scan: stuffed zeros taken out a piece at a time, refilled without branches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace penstock {

// The next bits, from the highest on, of which `count` are counted; `at` is where more come from.
// A look at more than `count` bits is fine as long as they are not consumed.
struct BitWindow {
  uint64_t bits = 0;
  int64_t count = 0;
  const uint8_t* at = nullptr;

  // At least 56 bits.
  void refill() {
    uint64_t next;
    std::memcpy(&next, at, sizeof next);
    bits |= __builtin_bswap64(next) >> count;
    at += (63 - count) >> 3;
    count |= 56;
  }
  void consume(int64_t n) {
    bits <<= n;
    count -= n;
  }
};

// What is between two markers of a scan. Behind its end come zeros: who consumes them has overrun.
class ScanBytes {
 public:
  // Everything one MCU may have: ten blocks of 64 symbols of 31 bits.
  static constexpr size_t kMostMcu = 2560;

  // Bytes from behind the scan's header to the end of the file.
  void start(std::string_view scan, BitWindow* window) {
    rest_ = scan;
    restart(window);
  }
  // Goes on at what is not yet taken: behind a marker.
  void restart(BitWindow* window) {
    held_.resize(kPiece + 2 * kMostMcu + 64);
    end_ = held_.data();
    at_marker_ = cut_ = false;
    *window = {0, 0, held_.data()};
    fill(window);
  }
  // Before each MCU.
  void provide(BitWindow* window) {
    if (!at_marker_ && window->at + kMostMcu > end_) fill(window);
  }
  // More was consumed than is there, or the file ends without a marker. After each MCU.
  bool overrun(const BitWindow& window) const {
    return cut_ || (at_marker_ && (window.at - end_) * 8 > window.count);
  }
  // Less than a byte is left before the marker.
  bool used_up(const BitWindow& window) const {
    return at_marker_ && !cut_ && (end_ - window.at) * 8 + window.count < 8;
  }
  // The marker behind the bytes, -1 for none; goes past it.
  int take_marker() {
    if (!at_marker_ || rest_.size() < 2) return -1;
    const int marker = static_cast<uint8_t>(rest_[1]);
    rest_.remove_prefix(2);
    return marker;
  }

 private:
  static constexpr size_t kPiece = 8192;

  void fill(BitWindow* window);

  std::vector<uint8_t> held_;  // bounded: lines of at most 65535 pixels
  uint8_t* end_ = nullptr;     // of the bytes in held_
  std::string_view rest_;      // of the scan, still stuffed
  bool at_marker_ = false, cut_ = false;
};

}  // namespace penstock
