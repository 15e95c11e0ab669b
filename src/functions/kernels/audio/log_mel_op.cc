// log_mel_spectrogram: the whole way from samples to the logarithm of mel bands in one op.
#include <cmath>
#include <string>
#include <vector>

#include "data/charged.h"
#include "functions/kernels/audio/audio_ops.h"
#include "functions/kernels/audio/mel.h"
#include "functions/kernels/audio/spectra.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "functions/kernels/audio/log_mel_op.cc"
#include <hwy/foreach_target.h>
// foreach_target must come before highway.
#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace penstock {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// values[i] = log(values[i] + offset), within an ulp or so. `count` is a multiple of 16.
void log_values(float* values, int64_t count, float offset) {
  const hn::CappedTag<float, 16> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t i = 0; i < count; i += lanes) {
    const auto value = hn::Add(hn::LoadU(d, values + i), hn::Set(d, offset));
    hn::StoreU(hn::Log(d, value), d, values + i);
  }
}

// to[i] = |from[i]|, or its square, of packed complex values. `count` is a multiple of 16.
void magnitudes(const float* from, int64_t count, bool square, float* to) {
  const hn::CappedTag<float, 16> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t i = 0; i < count; i += lanes) {
    hn::Vec<decltype(d)> re, im;
    hn::LoadInterleaved2(d, from + 2 * i, re, im);
    const auto sum = hn::Add(hn::Mul(re, re), hn::Mul(im, im));
    hn::StoreU(square ? sum : hn::Sqrt(sum), d, to + i);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace penstock
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace penstock {
namespace {

HWY_EXPORT(log_values);
HWY_EXPORT(magnitudes);

struct LogMel {
  SpectrumPlan spectrum;
  MelBank bank;
  float offset;
  bool square;

  explicit LogMel(const Attrs& attrs)
      : spectrum(attrs),
        offset(static_cast<float>(attrs["offset"].as_float())),
        square(attrs["power"].as_int() == 2) {
    const double rate = attrs["sample_rate"].as_float();
    MelScale scale{.bands = positive_attr(attrs, "num_mel_bins", 80),
                   .bins = spectrum.bins(),
                   .rate = rate,
                   .low_hertz = attrs["lower_edge_hertz"].as_float(),
                   .high_hertz = attrs["upper_edge_hertz"].as_float(),
                   .skip_first = true};
    if (!(scale.low_hertz >= 0 && scale.high_hertz > scale.low_hertz &&
          scale.high_hertz <= rate / 2)) {
      throw TypeError{-1, "upper_edge_hertz",
                      "must be above lower_edge_hertz and at most half the sample rate"};
    }
    if (const int64_t power = attrs["power"].as_int(); power != 1 && power != 2) {
      throw TypeError{-1, "power", "must be 1 or 2, is " + std::to_string(power)};
    }
    bank = make_mel_bank(scale);
  }
};

Spec infer(const InferContext& context) {
  const LeafSpec& signal = infer_signal(context, 0, 1);
  const LogMel plan(context.attrs);
  if (!signal.shape.has_rank()) return Spec::of(signal);
  const int64_t samples = signal.shape[signal.shape.rank() - 1];
  return Spec::tensor(
      DType::float32,
      with_last(signal.shape, 1, {plan.spectrum.frames(samples), plan.bank.bands()}));
}

int64_t padded(int64_t count) { return (count + 15) / 16 * 16; }

// One signal's bands, [frames, bands].
void bands_of(const LogMel& plan, const float* signal, int64_t samples, float* to) {
  const int64_t frames = plan.spectrum.frames(samples), bins = plan.spectrum.bins();
  const int64_t values = frames * bins, bands = plan.bank.bands();
  ChargedVector<float> spectra(static_cast<size_t>(2 * padded(values)), 0.0f);
  ChargedVector<float> power(static_cast<size_t>(padded(values)));
  ChargedVector<float> logs(static_cast<size_t>(padded(frames * bands)), 1.0f);
  short_time_transform(plan.spectrum, signal, samples, spectra.data());
  HWY_DYNAMIC_DISPATCH(magnitudes)(spectra.data(), padded(values), plan.square, power.data());
  for (int64_t f = 0; f < frames; ++f) {
    for (int64_t b = 0; b < bands; ++b) {
      const auto band = static_cast<size_t>(b);
      const float* from = power.data() + f * bins + plan.bank.starts[band];
      const float* weights = plan.bank.weights.data() + plan.bank.offsets[band];
      float sum = 0;
      for (int64_t i = 0; i < plan.bank.counts[band]; ++i) sum += from[i] * weights[i];
      logs[static_cast<size_t>(f * bands + b)] = sum;
    }
  }
  HWY_DYNAMIC_DISPATCH(log_values)(logs.data(), padded(frames * bands), plan.offset);
  std::copy_n(logs.data(), frames * bands, to);
}

void row(const RowCall& call) {
  const Tensor& signal = call.inputs[0];
  check_signal("log_mel_spectrogram", signal, 1);
  const auto& plan = *static_cast<const LogMel*>(call.state);
  const int64_t samples = signal.dims()[signal.dims().rank() - 1];
  const int64_t frames = plan.spectrum.frames(samples), bands = plan.bank.bands();
  auto* to = call.outputs[0].allocate_as<float>(with_last(signal.dims(), 1, {frames, bands}));
  for (int64_t i = 0; i < leading(signal.dims(), 1); ++i) {
    bands_of(plan, signal.entries<float>() + i * samples, samples, to + i * frames * bands);
  }
}

}  // namespace

void add_log_mel_op(OpRegistry* registry) {
  const auto number = [](const char* name, double value) {
    return option(name, Param::Kind::floating, Attr::floating(value));
  };
  OpDef op = audio_op(
      "log_mel_spectrogram",
      {required("signal", Param::Kind::tensor), number("sample_rate", 16000),
       option("frame_length", Param::Kind::integer, Attr::integer(400)),
       option("frame_step", Param::Kind::integer, Attr::integer(160)),
       option("fft_length", Param::Kind::any, {}),
       option("num_mel_bins", Param::Kind::integer, Attr::integer(80)),
       number("lower_edge_hertz", 80), number("upper_edge_hertz", 7600),
       option("power", Param::Kind::integer, Attr::integer(1)), number("offset", 1e-6)},
      "log(spectrogram @ linear_to_mel_weight_matrix + offset) in one pass: [..., frames, mel "
      "bins].",
      infer, row, 1e5);
  op.prepare = [](const Attrs& attrs) -> std::shared_ptr<const void> {
    return std::make_shared<const LogMel>(attrs);
  };
  registry->add(std::move(op));
}

}  // namespace penstock
#endif  // HWY_ONCE
