// rfft, irfft, fft, ifft and magnitude.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "data/charged.h"
#include "functions/kernels/audio/audio_ops.h"
#include "functions/kernels/audio/fft.h"

namespace penstock {
namespace {

Spec infer_rfft(const InferContext& context) {
  const LeafSpec& signal = infer_signal(context, 0, 1);
  if (!signal.shape.has_rank()) return Spec::of(signal);
  const int64_t given = signal.shape[signal.shape.rank() - 1];
  const int64_t length = positive_attr(context.attrs, "fft_length", given);
  return Spec::tensor(
      DType::float32,
      with_last(signal.shape, 1, {length < 0 ? Shape::kUnknown : length / 2 + 1, 2}));
}

void rfft_row(const RowCall& call) {
  const Tensor& signal = call.inputs[0];
  check_signal("rfft", signal, 1);
  const int64_t given = signal.dims()[signal.dims().rank() - 1];
  const int64_t length = positive_attr(call.attrs, "fft_length", given);
  if (length < 1) throw Error(Code::invalid_argument, "rfft: the signal is empty");
  const int64_t count = leading(signal.dims(), 1);
  ChargedVector<float> padded(static_cast<size_t>(count * length), 0.0f);
  for (int64_t i = 0; i < count; ++i) {
    std::copy_n(signal.entries<float>() + i * given, std::min(given, length),
                padded.data() + i * length);
  }
  real_transforms(
      *shared_fft(length), padded.data(), count, length,
      call.outputs[0].allocate_as<float>(with_last(signal.dims(), 1, {length / 2 + 1, 2})));
}

const LeafSpec& infer_complex(const InferContext& context, int rank) {
  const LeafSpec& spectrum = infer_signal(context, 0, rank);
  if (!spectrum.shape.has_rank()) return spectrum;
  const int64_t last = spectrum.shape[spectrum.shape.rank() - 1];
  if (last == 2 || last == Shape::kUnknown) return spectrum;
  context.fail(0, "is " + spectrum.text() + ", expected real and imaginary parts on the last axis");
}

void check_complex(const char* op, const Tensor& spectrum, int rank) {
  check_signal(op, spectrum, rank);
  if (spectrum.dims()[spectrum.dims().rank() - 1] == 2) return;
  throw Error(
      Code::invalid_argument,
      std::string(op) + ": expected real and imaginary parts, got shape " + spectrum.dims().text());
}

Spec infer_irfft(const InferContext& context) {
  const LeafSpec& spectrum = infer_complex(context, 2);
  if (!spectrum.shape.has_rank()) return Spec::of(spectrum);
  const int64_t bins = spectrum.shape[spectrum.shape.rank() - 2];
  const int64_t length =
      positive_attr(context.attrs, "fft_length",
                    bins < 0 ? Shape::kUnknown : std::max<int64_t>(1, 2 * (bins - 1)));
  return Spec::tensor(DType::float32, with_last(spectrum.shape, 2, {length}));
}

void irfft_row(const RowCall& call) {
  const Tensor& spectrum = call.inputs[0];
  check_complex("irfft", spectrum, 2);
  const int64_t given = spectrum.dims()[spectrum.dims().rank() - 2];
  const int64_t length =
      positive_attr(call.attrs, "fft_length", std::max<int64_t>(1, 2 * (given - 1)));
  const int64_t count = leading(spectrum.dims(), 2), bins = length / 2 + 1;
  ChargedVector<float> halves(static_cast<size_t>(count * bins * 2), 0.0f);
  for (int64_t i = 0; i < count; ++i) {
    std::copy_n(spectrum.entries<float>() + i * given * 2, 2 * std::min(given, bins),
                halves.data() + i * bins * 2);
  }
  inverse_real_transforms(
      *shared_fft(length), halves.data(), count,
      call.outputs[0].allocate_as<float>(with_last(spectrum.dims(), 2, {length})));
}

// -- fft and ifft, of complex values

Spec infer_fft(const InferContext& context) {
  const LeafSpec& values = infer_complex(context, 2);
  if (!values.shape.has_rank()) return Spec::of(values);
  const int64_t given = values.shape[values.shape.rank() - 2];
  return Spec::tensor(
      DType::float32,
      with_last(values.shape, 2, {positive_attr(context.attrs, "fft_length", given), 2}));
}

// exp(+...) instead of exp(-...) by turning the imaginary parts around, before and after.
void transform_row(const char* name, const RowCall& call, bool inverse) {
  const Tensor& values = call.inputs[0];
  check_complex(name, values, 2);
  const int64_t given = values.dims()[values.dims().rank() - 2];
  const int64_t length = positive_attr(call.attrs, "fft_length", given);
  if (length < 1) throw Error(Code::invalid_argument, std::string(name) + ": there are no values");
  const auto fft = shared_fft(length);
  constexpr int64_t kLanes = Fft::kLanes;
  const auto size = static_cast<size_t>(length * kLanes);
  ChargedVector<float> real(size), imaginary(size), scratch(2 * size);
  auto* to = call.outputs[0].allocate_as<float>(with_last(values.dims(), 2, {length, 2}));
  const float sign = inverse ? -1.0f : 1.0f;
  const float scale = inverse ? 1.0f / static_cast<float>(length) : 1.0f;
  for (int64_t i = 0; i < leading(values.dims(), 2); ++i, to += 2 * length) {
    const float* from = values.entries<float>() + 2 * i * given;
    std::ranges::fill(real, 0.0f);
    std::ranges::fill(imaginary, 0.0f);
    for (int64_t k = 0; k < std::min(given, length); ++k) {
      real[static_cast<size_t>(k * kLanes)] = from[2 * k];
      imaginary[static_cast<size_t>(k * kLanes)] = sign * from[2 * k + 1];
    }
    const bool moved = fft->transform(real.data(), imaginary.data(), scratch.data());
    const float* re = moved ? scratch.data() : real.data();
    const float* im = moved ? scratch.data() + size : imaginary.data();
    for (int64_t k = 0; k < length; ++k) {
      to[2 * k] = scale * re[k * kLanes];
      to[2 * k + 1] = sign * scale * im[k * kLanes];
    }
  }
}

void fft_row(const RowCall& call) { transform_row("fft", call, false); }
void ifft_row(const RowCall& call) { transform_row("ifft", call, true); }

Spec infer_magnitude(const InferContext& context) {
  const LeafSpec& spectrum = infer_complex(context, 1);
  return Spec::tensor(DType::float32, with_last(spectrum.shape, 1, {}));
}

void magnitude_row(const RowCall& call) {
  const Tensor& spectrum = call.inputs[0];
  check_complex("magnitude", spectrum, 1);
  auto* to = call.outputs[0].allocate_as<float>(with_last(spectrum.dims(), 1, {}));
  const float* from = spectrum.entries<float>();
  for (int64_t i = 0; i < spectrum.entries_count() / 2; ++i, from += 2) {
    to[i] = std::sqrt(from[0] * from[0] + from[1] * from[1]);
  }
}

}  // namespace

void add_fourier_ops(OpRegistry* registry) {
  const Param length = option("fft_length", Param::Kind::any, {});
  registry->add(audio_op(
      "rfft", {required("signal", Param::Kind::tensor), length},
      "The Fourier transform of the last axis: [..., length / 2 + 1, 2], real and imaginary.",
      infer_rfft, rfft_row, 2e4));
  registry->add(audio_op("irfft", {required("spectrum", Param::Kind::tensor), length},
                         "The signal whose rfft is the spectrum [..., bins, 2].", infer_irfft,
                         irfft_row, 2e4));
  const Param complex_values = required("values", Param::Kind::tensor);
  registry->add(audio_op("fft", {complex_values, length},
                         "The Fourier transform of complex values [..., length, 2].", infer_fft,
                         fft_row, 2e4));
  registry->add(audio_op("ifft", {complex_values, length},
                         "The values whose fft is given: with 1 / length.", infer_fft, ifft_row,
                         2e4));
  registry->add(audio_op("magnitude", {required("spectrum", Param::Kind::tensor)},
                         "The absolute value of complex values [..., 2].", infer_magnitude,
                         magnitude_row, 2e4));
}

}  // namespace penstock
