// stft, spectrogram and inverse_stft.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "data/charged.h"
#include "functions/kernels/audio/audio_ops.h"
#include "functions/kernels/audio/fft.h"
#include "functions/kernels/audio/spectra.h"
#include "functions/kernels/audio/windows.h"

namespace penstock {
namespace {

template <bool kComplex>
Spec infer(const InferContext& context) {
  const LeafSpec& signal = infer_signal(context, 0, 1);
  const SpectrumPlan plan(context.attrs);
  if (!signal.shape.has_rank()) return Spec::of(signal);
  const int64_t samples = signal.shape[signal.shape.rank() - 1];
  std::vector<int64_t> sizes{plan.frames(samples), plan.bins()};
  if (kComplex) sizes.push_back(2);
  return Spec::tensor(DType::float32, with_last(signal.shape, 1, std::move(sizes)));
}

std::shared_ptr<const void> prepare(const Attrs& attrs) {
  return std::make_shared<const SpectrumPlan>(attrs);
}

void stft_row(const RowCall& call) {
  const Tensor& signal = call.inputs[0];
  check_signal("stft", signal, 1);
  const auto& plan = *static_cast<const SpectrumPlan*>(call.state);
  const int64_t samples = signal.dims()[signal.dims().rank() - 1], frames = plan.frames(samples);
  auto* to =
      call.outputs[0].allocate_as<float>(with_last(signal.dims(), 1, {frames, plan.bins(), 2}));
  for (int64_t i = 0; i < leading(signal.dims(), 1); ++i) {
    short_time_transform(plan, signal.entries<float>() + i * samples, samples,
                         to + i * frames * plan.bins() * 2);
  }
}

void spectrogram_row(const RowCall& call) {
  const Tensor& signal = call.inputs[0];
  check_signal("spectrogram", signal, 1);
  const auto& plan = *static_cast<const SpectrumPlan*>(call.state);
  const double power = call.attrs["power"].as_float();
  const int64_t samples = signal.dims()[signal.dims().rank() - 1], frames = plan.frames(samples);
  const int64_t values = frames * plan.bins();
  auto* to = call.outputs[0].allocate_as<float>(with_last(signal.dims(), 1, {frames, plan.bins()}));
  ChargedVector<float> spectra(static_cast<size_t>(values * 2));
  for (int64_t i = 0; i < leading(signal.dims(), 1); ++i, to += values) {
    short_time_transform(plan, signal.entries<float>() + i * samples, samples, spectra.data());
    for (int64_t k = 0; k < values; ++k) {
      const float re = spectra[static_cast<size_t>(2 * k)];
      const float im = spectra[static_cast<size_t>(2 * k + 1)];
      const float square = re * re + im * im;
      to[k] = power == 2.0   ? square
              : power == 1.0 ? std::sqrt(square)
                             : static_cast<float>(std::pow(static_cast<double>(square), power / 2));
    }
  }
}

Spec infer_inverse(const InferContext& context) {
  const LeafSpec& spectra = infer_signal(context, 0, 3);
  const SpectrumPlan plan(context.attrs);
  if (!spectra.shape.has_rank()) return Spec::of(spectra);
  const int rank = spectra.shape.rank();
  const int64_t frames = spectra.shape[rank - 3], bins = spectra.shape[rank - 2];
  if ((bins >= 0 && bins != plan.bins()) || spectra.shape[rank - 1] != 2) {
    context.fail(0, "is " + spectra.text() + ", expected " + std::to_string(plan.bins()) +
                        " complex values a frame for fft_length " +
                        std::to_string(plan.fft_length));
  }
  const int64_t samples = covered_samples(frames, plan.frame_step, plan.frame_length);
  return Spec::tensor(DType::float32, with_last(spectra.shape, 3, {samples}));
}

void inverse_row(const RowCall& call) {
  const Tensor& spectra = call.inputs[0];
  check_signal("inverse_stft", spectra, 3);
  const auto& plan = *static_cast<const SpectrumPlan*>(call.state);
  const int rank = spectra.dims().rank();
  const int64_t frames = spectra.dims()[rank - 3];
  if (spectra.dims()[rank - 2] != plan.bins() || spectra.dims()[rank - 1] != 2) {
    throw Error(Code::invalid_argument, "inverse_stft: fft_length " +
                                            std::to_string(plan.fft_length) +
                                            " does not fit shape " + spectra.dims().text());
  }
  const ChargedVector<float> window = inverse_window(plan.window, plan.frame_step);
  const int64_t samples = covered_samples(frames, plan.frame_step, plan.frame_length);
  auto* to = call.outputs[0].allocate_as<float>(with_last(spectra.dims(), 3, {samples}));
  ChargedVector<float> signals(static_cast<size_t>(frames * plan.fft_length));
  const int64_t length = std::min(plan.frame_length, plan.fft_length);
  for (int64_t s = 0; s < leading(spectra.dims(), 3); ++s, to += samples) {
    inverse_real_transforms(*shared_fft(plan.fft_length),
                            spectra.entries<float>() + s * frames * plan.bins() * 2, frames,
                            signals.data());
    std::fill_n(to, samples, 0.0f);
    for (int64_t f = 0; f < frames; ++f) {
      for (int64_t i = 0; i < length; ++i) {
        to[f * plan.frame_step + i] +=
            signals[static_cast<size_t>(f * plan.fft_length + i)] * window[static_cast<size_t>(i)];
      }
    }
  }
}

}  // namespace

void add_stft_ops(OpRegistry* registry) {
  std::vector<Param> params{required("signal", Param::Kind::tensor),
                            required("frame_length", Param::Kind::integer),
                            required("frame_step", Param::Kind::integer),
                            option("fft_length", Param::Kind::any, {}),
                            option("window", Param::Kind::text, Attr::text("hann")),
                            option("pad_end", Param::Kind::boolean, Attr::boolean(false)),
                            option("center", Param::Kind::boolean, Attr::boolean(false)),
                            option("pad_mode", Param::Kind::text, Attr::text("constant")),
                            option("window_at", Param::Kind::text, Attr::text("front"))};
  OpDef stft = audio_op("stft", params,
                        "The Fourier transforms of weighted frames: [..., frames, bins, 2], real "
                        "and imaginary; fft_length: the next power of two.",
                        infer<true>, stft_row, 2e5);
  stft.prepare = prepare;
  registry->add(std::move(stft));
  params.push_back(option("power", Param::Kind::floating, Attr::floating(1)));
  OpDef spectrogram =
      audio_op("spectrogram", params, "magnitude(stft(signal, ...)) ** power: [..., frames, bins].",
               infer<false>, spectrogram_row, 2e5);
  spectrogram.prepare = prepare;
  registry->add(std::move(spectrogram));
  OpDef inverse = audio_op(
      "inverse_stft",
      {required("spectra", Param::Kind::tensor), required("frame_length", Param::Kind::integer),
       required("frame_step", Param::Kind::integer), option("fft_length", Param::Kind::any, {}),
       option("window", Param::Kind::text, Attr::text("hann"))},
      "The signal of stft(signal, ...), but for its ends.", infer_inverse, inverse_row, 2e5);
  inverse.prepare = prepare;
  registry->add(std::move(inverse));
}

}  // namespace penstock
