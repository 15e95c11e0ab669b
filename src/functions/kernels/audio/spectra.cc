#include "functions/kernels/audio/spectra.h"

#include <algorithm>
#include <bit>
#include <string>

#include "data/charged.h"
#include "functions/kernels/audio/audio_ops.h"
#include "functions/kernels/audio/fft.h"
#include "functions/kernels/audio/windows.h"

namespace penstock {
namespace {

bool choice(const Attrs& attrs, const char* name, std::string_view yes, std::string_view no) {
  if (!attrs.has(name)) return false;
  const std::string value = attrs[name].as_string();
  if (value == yes) return true;
  if (value == no) return false;
  throw TypeError{
      -1, name,
      "is \"" + value + "\", expected \"" + std::string(no) + "\" or \"" + std::string(yes) + "\""};
}

bool flag(const Attrs& attrs, const char* name) { return attrs.has(name) && attrs[name].as_bool(); }

ChargedVector<float> window_of(const Attrs& attrs, int64_t length) {
  const std::string name = attrs.has("window") ? attrs["window"].as_string() : "hann";
  if (name == "hann") return hann_window(length);
  if (name == "hamming") return raised_cosine_window(length, true, 0.54, 0.46);
  if (name == "none") return ChargedVector<float>(static_cast<size_t>(length), 1.0f);
  throw TypeError{-1, "window", "is \"" + name + "\", expected \"hann\", \"hamming\" or \"none\""};
}

// Sample i of a signal that is mirrored at its ends.
int64_t mirrored(int64_t i, int64_t samples) {
  if (samples == 1) return 0;
  const int64_t period = 2 * (samples - 1);
  i = ((i % period) + period) % period;
  return i < samples ? i : period - i;
}

}  // namespace

SpectrumPlan::SpectrumPlan(const Attrs& attrs)
    : frame_length(positive_attr(attrs, "frame_length", 1)),
      frame_step(positive_attr(attrs, "frame_step", 1)),
      pad_end(flag(attrs, "pad_end")),
      center(flag(attrs, "center")),
      reflect(choice(attrs, "pad_mode", "reflect", "constant")),
      in_middle(choice(attrs, "window_at", "middle", "front")) {
  if (frame_length > int64_t{1} << 24) {
    throw TypeError{-1, "frame_length", "must be at most 2^24, is " + std::to_string(frame_length)};
  }
  const auto power = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(frame_length)));
  fft_length = positive_attr(attrs, "fft_length", power);
  if (in_middle && frame_length > fft_length) {
    throw TypeError{-1, "fft_length", "must be at least frame_length"};
  }
  window = window_of(attrs, frame_length);
}

int64_t SpectrumPlan::frames(int64_t samples) const {
  if (samples < 0) return Shape::kUnknown;
  const int64_t length = in_middle ? fft_length : frame_length;
  return frame_count(samples + (center ? fft_length / 2 * 2 : 0), length, frame_step, pad_end);
}

void windowed_frames(const SpectrumPlan& plan, const float* signal, int64_t samples,
                     ChargedVector<float>* out) {
  const int64_t frames = plan.frames(samples);
  const int64_t front = plan.in_middle ? (plan.fft_length - plan.frame_length) / 2 : 0;
  const int64_t length = std::min(plan.frame_length, plan.fft_length);
  out->assign(static_cast<size_t>(frames * plan.fft_length), 0.0f);
  for (int64_t f = 0; f < frames; ++f) {
    const int64_t first = f * plan.frame_step + front - (plan.center ? plan.fft_length / 2 : 0);
    float* to = out->data() + f * plan.fft_length + front;
    if (plan.reflect && plan.center && samples > 0) {
      for (int64_t i = 0; i < length; ++i) {
        to[i] = signal[mirrored(first + i, samples)] * plan.window[static_cast<size_t>(i)];
      }
      continue;
    }
    const int64_t from = std::max<int64_t>(0, -first), end = std::min(length, samples - first);
    for (int64_t i = from; i < end; ++i) {
      to[i] = signal[first + i] * plan.window[static_cast<size_t>(i)];
    }
  }
}

void short_time_transform(const SpectrumPlan& plan, const float* signal, int64_t samples,
                          float* out) {
  ChargedVector<float> frames;
  windowed_frames(plan, signal, samples, &frames);
  real_transforms(*shared_fft(plan.fft_length), frames.data(), plan.frames(samples),
                  plan.fft_length, out);
}

}  // namespace penstock
