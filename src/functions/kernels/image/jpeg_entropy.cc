#include "functions/kernels/image/jpeg_entropy.h"

#include <algorithm>

#include "functions/kernels/image/jpeg_idct.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "functions/kernels/image/jpeg_entropy.cc"
#include <hwy/foreach_target.h>
// foreach_target must come before highway.
#include <hwy/highway.h>

#ifndef PENSTOCK_JPEG_ZIGZAG
#define PENSTOCK_JPEG_ZIGZAG
namespace penstock {

// Where in its group each coefficient of a block goes. What lies behind the last place, because a
// look took in more than the block or the data are wrong, goes behind the group.
struct Places {
  uint16_t at[320];
  constexpr Places() : at() {
    int y = 0, x = 0;
    for (int i = 0; i < 64; ++i) {
      at[i] = static_cast<uint16_t>(kGroupRow * y + x);
      const bool up = (x + y) % 2 == 0;
      if (up) {
        if (x == 7)
          ++y;
        else if (y == 0)
          ++x;
        else
          --y, ++x;
      } else {
        if (y == 7)
          ++x;
        else if (x == 0)
          ++y;
        else
          ++y, --x;
      }
    }
    for (int i = 64; i < 320; ++i) at[i] = kGroupValues;
  }
};
inline constexpr Places kPlaces;

}  // namespace penstock
#endif

HWY_BEFORE_NAMESPACE();
namespace penstock {
namespace HWY_NAMESPACE {

// Symbol by symbol from `place` on to the end of the block. False when the data are wrong. Needs
// nothing of the window, leaves anything in it.
inline bool finish_block(const HuffmanCode& code, BitWindow& window, int64_t place,
                         int16_t* block) {
  while (place < 64) {
    window.refill();
    const uint32_t symbol = code.symbol(window.bits);
    if (symbol == 0) return false;
    window.consume(symbol & 255);
    const int size = static_cast<int>(symbol >> 8 & 15);
    const auto run = static_cast<int64_t>(symbol >> 12);
    if (size == 0 && run != 15) return true;
    place += run;
    if (place > 63) return false;
    const int32_t value = extended(window.bits, size);
    window.consume(size);
    if (block != nullptr) block[kPlaces.at[place]] = static_cast<int16_t>(value);
    ++place;
  }
  return true;
}

// One symbol that no look decodes. Gives the place behind it, above 64 at the end of the block, or
// -1 when the data are wrong.
inline int64_t long_symbol(const HuffmanCode& code, BitWindow& window, int64_t place,
                           int16_t* block) {
  window.refill();
  const uint32_t symbol = code.symbol(window.bits);
  if (symbol == 0) return -1;
  window.consume(symbol & 255);
  const int size = static_cast<int>(symbol >> 8 & 15);
  const auto run = static_cast<int64_t>(symbol >> 12);
  if (size == 0 && run != 15) return 64;
  place += run;
  if (place > 63) return -1;
  const int32_t value = extended(window.bits, size);
  window.consume(size);
  if (block != nullptr) block[kPlaces.at[place]] = static_cast<int16_t>(value);
  return place + 1;
}

// Whether a block that ended at this place did so plainly: behind its last coefficient, or by an
// end of block that was before it.
inline bool plain_end(int64_t place) {
  return place == 64 || (place > kBlockEnd && place < kBlockEnd + 64);
}

// Decodes with one look what it holds. False at the end of the block, and where the look holds
// nothing.
HWY_INLINE bool take(AcLook look, BitWindow& w, const uint16_t*& place, int16_t* block) {
  w.consume(static_cast<int64_t>(look & 255));
  block[place[look >> 16 & 255]] = static_cast<int16_t>(look >> 32);
  block[place[look >> 24 & 255]] = static_cast<int16_t>(look >> 48);
  place += look >> 8 & 255;
  return place < kPlaces.at + 64;
}

inline bool decode_ac(const AcCode& ac, BitWindow& window, int16_t* block) {
  BitWindow w = window;
  const uint16_t* place = kPlaces.at + 1;
  for (;;) {
    w.refill();
    BitWindow before = w;
    const uint16_t* place_before = place;
    AcLook look = 0;
    bool more = true;
#pragma GCC unroll 5
    for (int i = 0; i < 5; ++i) {
      look = ac.looks[w.bits >> (64 - kLookBits)];
      before = w;
      place_before = place;
      more = take(look, w, place, block);
      if (!more) break;
    }
    if (more) continue;
    if ((look & 255) != 0 && plain_end(place - kPlaces.at)) break;
    w = before;
    int64_t at = place_before - kPlaces.at;
    if ((look & 255) != 0) {  // took in more than the block
      if (!finish_block(ac.code, w, at, block)) return false;
      break;
    }
    at = long_symbol(ac.code, w, at, block);
    if (at < 0) return false;
    if (at >= 64) break;
    place = kPlaces.at + at;
  }
  window = w;
  return true;
}

inline bool skip_ac(const AcCode& ac, BitWindow& window) {
  BitWindow w = window;
  int64_t place = 1;
  for (;;) {
    w.refill();
    BitWindow before = w;
    int64_t place_before = place;
    uint32_t look = 0;
#pragma GCC unroll 3
    for (int i = 0; i < 3; ++i) {
      look = ac.skips[w.bits >> (64 - kLookBits)];
      before = w;
      place_before = place;
      w.consume(look & 255);
      place += look >> 8;
      if (place >= 64) break;
    }
    if (place < 64) continue;
    if ((look & 255) != 0 && plain_end(place)) break;
    w = before;
    place = place_before;
    if ((look & 255) != 0) {
      if (!finish_block(ac.code, w, place, nullptr)) return false;
      break;
    }
    place = long_symbol(ac.code, w, place, nullptr);
    if (place < 0) return false;
    if (place >= 64) break;
  }
  window = w;
  return true;
}

// MCUs from number `first` of their row's groups on, or passes over them.
bool run_mcus(const EntropyPart* parts, int count, int64_t first, int64_t mcus, bool decode,
              ScanBytes& bytes, BitWindow& window, int32_t* last_dc) {
  for (int64_t mcu = first; mcu < first + mcus; ++mcu) {
    bytes.provide(&window);
    for (int c = 0; c < count; ++c) {
      const EntropyPart& part = parts[c];
      for (int b = 0; b < part.across * part.down; ++b) {
        window.refill();
        const uint32_t symbol = part.dc->symbol(window.bits);
        if (symbol == 0) return false;
        window.consume(symbol & 255);
        const int size = static_cast<int>(symbol >> 8);
        last_dc[c] += extended(window.bits, size);
        window.consume(size);
        if (last_dc[c] != static_cast<int16_t>(last_dc[c])) return false;
        int16_t* groups = part.groups[b < part.across ? 0 : 1];
        if (!decode || groups == nullptr) {
          if (!skip_ac(*part.ac, window)) return false;
          continue;
        }
        int16_t* block =
            groups + group_place(mcu * part.across + (b < part.across ? b : b - part.across));
        block[0] = static_cast<int16_t>(last_dc[c]);
        if (!decode_ac(*part.ac, window, block)) return false;
      }
    }
    if (bytes.overrun(window)) return false;
  }
  return true;
}

}  // namespace HWY_NAMESPACE
}  // namespace penstock
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace penstock {
namespace {

HWY_EXPORT(run_mcus);

}  // namespace

void EntropyDecoder::start(std::string_view scan, int64_t restart_interval) {
  bytes_.start(scan, &window_);
  std::ranges::fill(last_dc_, 0);
  interval_ = to_restart_ = restart_interval;
  next_restart_ = 0;
}

bool EntropyDecoder::run(int64_t mcus, bool decode) {
  for (int64_t done = 0; done < mcus;) {
    if (interval_ > 0 && to_restart_ == 0) {
      if (!bytes_.used_up(window_) || bytes_.take_marker() != 0xd0 + next_restart_) return false;
      next_restart_ = (next_restart_ + 1) % 8;
      bytes_.restart(&window_);
      std::ranges::fill(last_dc_, 0);
      to_restart_ = interval_;
    }
    const int64_t now = interval_ > 0 ? std::min(mcus - done, to_restart_) : mcus - done;
    if (!HWY_DYNAMIC_DISPATCH(run_mcus)(parts.data(), count, done, now, decode, bytes_, window_,
                                        last_dc_)) {
      return false;
    }
    to_restart_ -= now;
    done += now;
  }
  return true;
}

}  // namespace penstock
#endif  // HWY_ONCE
