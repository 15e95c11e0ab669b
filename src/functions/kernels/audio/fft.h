// Discrete Fourier transforms of any length in float32, several at once.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "data/charged.h"

namespace penstock {

// Transforms of one length; immutable, for any number of threads. Lengths whose prime factors are
// small are fast; a large prime p costs p per value.
class Fft {
 public:
  explicit Fft(int64_t length);
  int64_t length() const { return length_; }

  // kLanes transforms side by side: value i of transform l is at [i * kLanes + l] of `real` and
  // `imaginary`, which hold length() * kLanes each. `scratch` holds twice as many. The result comes
  // in the same places, or in `scratch` (real, then imaginary): true when it does.
  static constexpr int64_t kLanes = 8;
  bool transform(float* real, float* imaginary, float* scratch) const;

 private:
  int64_t length_;
  std::vector<int64_t> radices_;   // bounded: factors of a length
  ChargedVector<float> twiddles_;  // exp(-2 pi i k / length), real and imaginary in turn
};

// A plan that is kept for the next caller with this length.
std::shared_ptr<const Fft> shared_fft(int64_t length);

// `count` real signals of fft.length() values, `step` apart, to length / 2 + 1 complex values each
// (real and imaginary in turn), packed.
void real_transforms(const Fft& fft, const float* from, int64_t count, int64_t step, float* to);
// The inverse, with 1 / length: half spectra, packed, to real signals, packed.
void inverse_real_transforms(const Fft& fft, const float* from, int64_t count, float* to);

}  // namespace penstock
