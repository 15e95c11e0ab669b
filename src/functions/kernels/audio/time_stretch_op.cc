// time_stretch: slower or faster at the same pitch, by a phase vocoder.
#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <string>
#include <vector>

#include "data/charged.h"
#include "functions/kernels/audio/audio_ops.h"
#include "functions/kernels/audio/fft.h"
#include "functions/kernels/audio/spectra.h"

namespace penstock {
namespace {

double rate_of(const Attrs& attrs) {
  const double rate = attrs["rate"].as_float();
  if (rate > 0 && std::isfinite(rate)) return rate;
  throw TypeError{-1, "rate", "must be positive, is " + std::to_string(rate)};
}

int64_t stretched(int64_t samples, double rate) {
  if (samples < 0) return Shape::kUnknown;
  constexpr double kMost = 0x1p56;  // no buffer holds as many
  return static_cast<int64_t>(std::min(kMost, std::nearbyint(static_cast<double>(samples) / rate)));
}

Spec infer(const InferContext& context) {
  const LeafSpec& signal = infer_signal(context, 0, 1);
  context.check_rank(0, 1);
  const double rate = rate_of(context.attrs);
  if (!signal.shape.has_rank()) return Spec::tensor(DType::float32, Shape::of_rank(1));
  return Spec::tensor(DType::float32, Shape{stretched(signal.shape[0], rate)});
}

// Frames at steps of `rate` between the given ones, with phases that go on as they did.
ChargedVector<float> stretch_frames(const ChargedVector<float>& spectra, int64_t frames,
                                    int64_t bins, int64_t hop, double rate, int64_t* made) {
  constexpr double kTurn = 2 * std::numbers::pi;
  const auto value = [&](int64_t frame, int64_t bin) -> std::complex<double> {
    if (frame >= frames) return 0;
    const auto at = static_cast<size_t>(2 * (frame * bins + bin));
    return {static_cast<double>(spectra[at]), static_cast<double>(spectra[at + 1])};
  };
  constexpr double kMostFrames = 0x1p40;
  *made =
      static_cast<int64_t>(std::min(kMostFrames, std::ceil(static_cast<double>(frames) / rate)));
  ChargedVector<float> out;
  ChargedVector<double> phase;
  for (int64_t k = 0; k < bins; ++k) phase.push_back(std::arg(value(0, k)));
  for (int64_t f = 0; f < *made; ++f) {
    const double place = static_cast<double>(f) * rate;
    const auto before = static_cast<int64_t>(place);
    const double part = place - static_cast<double>(before);
    for (int64_t k = 0; k < bins; ++k) {
      const std::complex<double> a = value(before, k), b = value(before + 1, k);
      const double size = (1 - part) * std::abs(a) + part * std::abs(b);
      const auto at = static_cast<size_t>(k);
      out.push_back(static_cast<float>(size * std::cos(phase[at])));
      out.push_back(static_cast<float>(size * std::sin(phase[at])));
      const double advance =
          kTurn * static_cast<double>(hop * k) / static_cast<double>(2 * (bins - 1));
      const double off = std::arg(b) - std::arg(a) - advance;
      phase[at] += advance + off - kTurn * std::nearbyint(off / kTurn);
    }
  }
  return out;
}

void row(const RowCall& call) {
  const Tensor& signal = call.inputs[0];
  check_signal("time_stretch", signal, 1);
  const auto& plan = *static_cast<const SpectrumPlan*>(call.state);
  const int64_t samples = signal.entries_count(), length = plan.fft_length;
  const double rate = rate_of(call.attrs);
  const int64_t out_samples = stretched(samples, rate);
  auto* to = call.outputs[0].allocate_as<float>({out_samples});
  const int64_t frames = plan.frames(samples);
  ChargedVector<float> spectra(static_cast<size_t>(frames * plan.bins() * 2));
  short_time_transform(plan, signal.entries<float>(), samples, spectra.data());
  int64_t made = 0;
  const ChargedVector<float> moved =
      stretch_frames(spectra, frames, plan.bins(), plan.frame_step, rate, &made);
  ChargedVector<float> parts(static_cast<size_t>(made * length));
  inverse_real_transforms(*shared_fft(length), moved.data(), made, parts.data());
  ChargedVector<double> sum(
      static_cast<size_t>((made - 1) * plan.frame_step + length + out_samples)),
      weight(sum.size());
  for (int64_t f = 0; f < made; ++f) {
    for (int64_t i = 0; i < length; ++i) {
      const auto w = static_cast<double>(plan.window[static_cast<size_t>(i)]);
      const auto at = static_cast<size_t>(f * plan.frame_step + i);
      sum[at] += w * static_cast<double>(parts[static_cast<size_t>(f * length + i)]);
      weight[at] += w * w;
    }
  }
  for (int64_t i = 0; i < out_samples; ++i) {
    const auto at = static_cast<size_t>(i + length / 2);
    to[i] = static_cast<float>(weight[at] > 1e-8 ? sum[at] / weight[at] : sum[at]);
  }
}

}  // namespace

void add_time_stretch_op(OpRegistry* registry) {
  OpDef op =
      audio_op("time_stretch",
               {required("signal", Param::Kind::tensor), required("rate", Param::Kind::floating),
                option("frame_length", Param::Kind::integer, Attr::integer(2048)),
                option("frame_step", Param::Kind::integer, Attr::integer(512)),
                option("center", Param::Kind::boolean, Attr::boolean(true))},
               "The signal `rate` times as fast at the same pitch.", infer, row, 5e6);
  op.prepare = [](const Attrs& attrs) -> std::shared_ptr<const void> {
    return std::make_shared<const SpectrumPlan>(attrs);
  };
  registry->add(std::move(op));
}

}  // namespace penstock
