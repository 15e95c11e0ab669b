#include "functions/kernels/image/jpeg_bits.h"

#include <algorithm>

namespace penstock {

void ScanBytes::fill(BitWindow* window) {
  const auto left = static_cast<size_t>(end_ - window->at);
  std::memmove(held_.data(), window->at, left);
  window->at = held_.data();
  end_ = held_.data() + left;
  const uint8_t* const full = held_.data() + kPiece + kMostMcu;
  while (end_ < full && !at_marker_ && !cut_) {
    const size_t room = std::min(rest_.size(), static_cast<size_t>(full - end_));
    const void* found = room == 0 ? nullptr : std::memchr(rest_.data(), 0xff, room);
    const size_t plain = found == nullptr
                             ? room
                             : static_cast<size_t>(static_cast<const char*>(found) - rest_.data());
    std::memcpy(end_, rest_.data(), plain);
    end_ += plain;
    rest_.remove_prefix(plain);
    if (rest_.empty()) {
      cut_ = true;
    } else if (found != nullptr && rest_.size() < 2) {
      cut_ = true;
    } else if (found != nullptr && rest_[1] == 0) {
      *end_++ = 0xff;
      rest_.remove_prefix(2);
    } else if (found != nullptr) {
      at_marker_ = true;
    }
  }
  if (at_marker_ || cut_) std::memset(end_, 0, kMostMcu + 16);
}

}  // namespace penstock
