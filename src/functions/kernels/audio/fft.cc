#include "functions/kernels/audio/fft.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <numbers>

#include "base/fork.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "functions/kernels/audio/fft.cc"
#include <hwy/foreach_target.h>
// foreach_target must come before highway.
#include <hwy/highway.h>

#include "data/charged.h"

#ifndef PENSTOCK_FFT_STEP
#define PENSTOCK_FFT_STEP
namespace penstock {

// One butterfly over `count` neighbours: inputs `in_step` values apart, outputs `count` apart,
// output j turned by twiddle[2 * j].
struct FftStep {
  const float *in_real, *in_imaginary;
  int64_t in_step;
  float *out_real, *out_imaginary;
  int64_t count;
  const float* twiddle;
};

}  // namespace penstock
#endif

HWY_BEFORE_NAMESPACE();
namespace penstock {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using Lanes = hn::CappedTag<float, 8>;  // counts are multiples of 8

template <class V>
struct Complex {
  V re, im;
};
template <class V>
HWY_INLINE Complex<V> operator+(Complex<V> a, Complex<V> b) {
  return {hn::Add(a.re, b.re), hn::Add(a.im, b.im)};
}
template <class V>
HWY_INLINE Complex<V> operator-(Complex<V> a, Complex<V> b) {
  return {hn::Sub(a.re, b.re), hn::Sub(a.im, b.im)};
}

HWY_INLINE Complex<hn::Vec<Lanes>> load(const FftStep& step, int64_t input, int64_t i) {
  const Lanes d;
  const int64_t at = input * step.in_step + i;
  return {hn::LoadU(d, step.in_real + at), hn::LoadU(d, step.in_imaginary + at)};
}

HWY_INLINE void store(const FftStep& step, int64_t output, int64_t i,
                      Complex<hn::Vec<Lanes>> value) {
  const Lanes d;
  const int64_t at = output * step.count + i;
  const auto re = hn::Set(d, step.twiddle[2 * output]);
  const auto im = hn::Set(d, step.twiddle[2 * output + 1]);
  hn::StoreU(hn::Sub(hn::Mul(value.re, re), hn::Mul(value.im, im)), d, step.out_real + at);
  hn::StoreU(hn::Add(hn::Mul(value.re, im), hn::Mul(value.im, re)), d, step.out_imaginary + at);
}

void radix2(const FftStep& step) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(Lanes()));
  for (int64_t i = 0; i < step.count; i += lanes) {
    const auto a = load(step, 0, i), b = load(step, 1, i);
    store(step, 0, i, a + b);
    store(step, 1, i, a - b);
  }
}

void radix4(const FftStep& step) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(Lanes()));
  for (int64_t i = 0; i < step.count; i += lanes) {
    const auto a = load(step, 0, i), b = load(step, 1, i);
    const auto c = load(step, 2, i), e = load(step, 3, i);
    const auto even = a + c, odd = a - c, sum = b + e, difference = b - e;
    const Complex<hn::Vec<Lanes>> turned{difference.im, hn::Neg(difference.re)};  // times -i
    store(step, 0, i, even + sum);
    store(step, 1, i, odd + turned);
    store(step, 2, i, even - sum);
    store(step, 3, i, odd - turned);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace penstock
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace penstock {
namespace {

HWY_EXPORT(radix2);
HWY_EXPORT(radix4);

// Any radix, by the definition. `root`: exp(-2 pi i k / radix) at 2 * k.
void radix_any(const FftStep& step, int64_t radix, const float* root) {
  for (int64_t j = 0; j < radix; ++j) {
    for (int64_t i = 0; i < step.count; ++i) {
      double re = 0, im = 0;
      for (int64_t k = 0; k < radix; ++k) {
        const double a = static_cast<double>(step.in_real[k * step.in_step + i]);
        const double b = static_cast<double>(step.in_imaginary[k * step.in_step + i]);
        const double c = static_cast<double>(root[2 * (j * k % radix)]);
        const double d = static_cast<double>(root[2 * (j * k % radix) + 1]);
        re += a * c - b * d;
        im += a * d + b * c;
      }
      const auto x = static_cast<float>(re), y = static_cast<float>(im);
      const float c = step.twiddle[2 * j], d = step.twiddle[2 * j + 1];
      step.out_real[j * step.count + i] = x * c - y * d;
      step.out_imaginary[j * step.count + i] = x * d + y * c;
    }
  }
}

std::vector<int64_t> factors(int64_t length) {
  std::vector<int64_t> out;  // bounded: factors of a length
  while (length % 4 == 0) {
    out.push_back(4);
    length /= 4;
  }
  for (int64_t factor = 2; length > 1; ++factor) {
    if (factor * factor > length) factor = length;
    for (; length % factor == 0; length /= factor) out.push_back(factor);
  }
  return out;
}

}  // namespace

Fft::Fft(int64_t length) : length_(length), radices_(factors(length)) {
  twiddles_.reserve(static_cast<size_t>(2 * length));
  for (int64_t k = 0; k < length; ++k) {
    const double angle =
        -2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(length);
    twiddles_.push_back(static_cast<float>(std::cos(angle)));
    twiddles_.push_back(static_cast<float>(std::sin(angle)));
  }
}

// Stockham's form: each pass reads one pair of buffers, writes the other, and leaves the values in
// order.
bool Fft::transform(float* real, float* imaginary, float* scratch) const {
  float *from_real = real, *from_imaginary = imaginary;
  float *to_real = scratch, *to_imaginary = scratch + length_ * kLanes;
  int64_t rest = length_, stride = 1;
  ChargedVector<float> turns, roots;
  for (const int64_t radix : radices_) {
    const int64_t block = rest / radix, unit = length_ / rest;
    turns.resize(static_cast<size_t>(2 * radix));
    roots.resize(static_cast<size_t>(2 * radix));
    for (int64_t k = 0; k < radix; ++k) {
      const int64_t at = 2 * (k * (length_ / radix));
      roots[static_cast<size_t>(2 * k)] = twiddles_[static_cast<size_t>(at)];
      roots[static_cast<size_t>(2 * k + 1)] = twiddles_[static_cast<size_t>(at + 1)];
    }
    for (int64_t q = 0; q < block; ++q) {
      for (int64_t j = 0; j < radix; ++j) {
        const auto at = static_cast<size_t>(2 * (j * q * unit % length_));
        turns[static_cast<size_t>(2 * j)] = twiddles_[at];
        turns[static_cast<size_t>(2 * j + 1)] = twiddles_[at + 1];
      }
      const int64_t count = stride * kLanes;
      const FftStep step{from_real + q * count,
                         from_imaginary + q * count,
                         block * count,
                         to_real + q * radix * count,
                         to_imaginary + q * radix * count,
                         count,
                         turns.data()};
      if (radix == 4) {
        HWY_DYNAMIC_DISPATCH(radix4)(step);
      } else if (radix == 2) {
        HWY_DYNAMIC_DISPATCH(radix2)(step);
      } else {
        radix_any(step, radix, roots.data());
      }
    }
    std::swap(from_real, to_real);
    std::swap(from_imaginary, to_imaginary);
    rest = block;
    stride *= radix;
  }
  return from_real != real;
}

std::shared_ptr<const Fft> shared_fft(int64_t length) {
  constexpr int64_t kMostKept = 1 << 16;
  if (length > kMostKept) return std::make_shared<const Fft>(length);
  const ScopedPool pool(nullptr);  // it outlives the run that asks first
  static ForkMutex mutex;
  // bounded: 64 plans of at most kMostKept
  static std::map<int64_t, std::shared_ptr<const Fft>> plans;
  const std::lock_guard lock(mutex);
  if (plans.size() > 64) plans.clear();
  std::shared_ptr<const Fft>& plan = plans[length];
  if (plan == nullptr) plan = std::make_shared<const Fft>(length);
  return plan;
}

namespace {

// Two real signals ride in one complex transform: one as its real, one as its imaginary part.
struct Pair {
  ChargedVector<float> real, imaginary, scratch;

  explicit Pair(int64_t length)
      : real(static_cast<size_t>(length * Fft::kLanes)),
        imaginary(real.size()),
        scratch(2 * real.size()) {}
  // Transforms; the results' parts.
  void run(const Fft& fft, const float** re, const float** im) {
    const bool moved = fft.transform(real.data(), imaginary.data(), scratch.data());
    *re = moved ? scratch.data() : real.data();
    *im = moved ? scratch.data() + real.size() : imaginary.data();
  }
};

}  // namespace

void real_transforms(const Fft& fft, const float* from, int64_t count, int64_t step, float* to) {
  const int64_t n = fft.length(), bins = n / 2 + 1;
  constexpr int64_t kLanes = Fft::kLanes;
  Pair pair(n);
  for (int64_t first = 0; first < count; first += 2 * kLanes) {
    const int64_t now = std::min(2 * kLanes, count - first);
    for (int64_t s = 0; s < 2 * kLanes; ++s) {
      float* part = (s % 2 == 0 ? pair.real : pair.imaginary).data() + s / 2;
      const float* signal = from + (first + s) * step;
      for (int64_t i = 0; i < n; ++i) part[i * kLanes] = s < now ? signal[i] : 0.0f;
    }
    const float *re = nullptr, *im = nullptr;
    pair.run(fft, &re, &im);
    for (int64_t s = 0; s < now; ++s) {
      float* out = to + (first + s) * bins * 2;
      for (int64_t k = 0; k < bins; ++k, out += 2) {
        const int64_t a = k * kLanes + s / 2, b = (n - k) % n * kLanes + s / 2;
        out[0] = 0.5f * (s % 2 == 0 ? re[a] + re[b] : im[a] + im[b]);
        out[1] = 0.5f * (s % 2 == 0 ? im[a] - im[b] : re[b] - re[a]);
      }
    }
  }
}

// The inverse is the transform of the swapped parts: z = x + iy of two spectra X and Y is X + iY.
void inverse_real_transforms(const Fft& fft, const float* from, int64_t count, float* to) {
  const int64_t n = fft.length(), bins = n / 2 + 1;
  constexpr int64_t kLanes = Fft::kLanes;
  const float scale = 1.0f / static_cast<float>(n);
  Pair pair(n);
  for (int64_t first = 0; first < count; first += 2 * kLanes) {
    const int64_t now = std::min(2 * kLanes, count - first);
    std::ranges::fill(pair.real, 0.0f);
    std::ranges::fill(pair.imaginary, 0.0f);
    for (int64_t s = 0; s < now; ++s) {
      const float* spectrum = from + (first + s) * bins * 2;
      for (int64_t k = 0; k < n; ++k) {
        const bool mirrored = k >= bins;
        const int64_t bin = mirrored ? n - k : k;
        const bool real_bin = bin == 0 || 2 * bin == n;
        const float re = spectrum[2 * bin];
        const float im = real_bin   ? 0.0f
                         : mirrored ? -spectrum[2 * bin + 1]
                                    : spectrum[2 * bin + 1];
        const auto at = static_cast<size_t>(k * kLanes + s / 2);
        pair.real[at] += s % 2 == 0 ? im : re;        // swapped: the imaginary part of X + iY
        pair.imaginary[at] += s % 2 == 0 ? re : -im;  // and its real part
      }
    }
    const float *re = nullptr, *im = nullptr;
    pair.run(fft, &re, &im);
    for (int64_t s = 0; s < now; ++s) {
      const float* part = (s % 2 == 0 ? im : re) + s / 2;  // swapped back
      for (int64_t i = 0; i < n; ++i) to[(first + s) * n + i] = part[i * kLanes] * scale;
    }
  }
}

}  // namespace penstock
#endif  // HWY_ONCE
