// Banks of triangles on the mel scale.
#pragma once

#include <cstdint>
#include <vector>

#include "data/charged.h"

namespace penstock {

// The weights of the spectrum's bins in each band, without the zeros.
struct MelBank {
  int64_t bins = 0;
  ChargedVector<int64_t> starts, counts;  // per band
  ChargedVector<int64_t> offsets;         // where a band's weights begin
  ChargedVector<float> weights;

  int64_t bands() const { return static_cast<int64_t>(starts.size()); }
};

struct MelScale {
  int64_t bands = 20, bins = 129;
  double rate = 8000, low_hertz = 125, high_hertz = 3800;
  bool slaney = false;      // linear below 1 kHz; else 1127 ln(1 + f / 700)
  bool in_hertz = false;    // the triangles' sides are straight in hertz; else in mel
  bool area_norm = false;   // divided by half the width in hertz
  bool skip_first = false;  // the bin of frequency 0 counts nowhere
};

MelBank make_mel_bank(const MelScale& scale);

}  // namespace penstock
