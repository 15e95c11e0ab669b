// resample (libsoxr) and resample_poly (a polyphase filter as scipy.signal makes it).
#include <soxr.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <string>
#include <vector>

#include "data/charged.h"
#include "functions/kernels/audio/audio_ops.h"
#include "functions/kernels/audio/windows.h"

namespace penstock {
namespace {

unsigned long quality_of(const Attrs& attrs) {
  const std::string name = attrs["quality"].as_string();
  if (name == "qq") return SOXR_QQ;
  if (name == "lq") return SOXR_LQ;
  if (name == "mq") return SOXR_MQ;
  if (name == "hq") return SOXR_HQ;
  if (name == "vhq") return SOXR_VHQ;
  throw TypeError{-1, "quality", "is \"" + name + "\", expected qq, lq, mq, hq or vhq"};
}

Spec infer_resample(const InferContext& context) {
  const LeafSpec& samples = infer_signal(context, 0, 1);
  if (samples.shape.has_rank() && samples.shape.rank() > 2) {
    context.fail(0, "is " + samples.text() + ", expected [samples] or [samples, channels]");
  }
  quality_of(context.attrs);
  for (int i = 1; i < 3; ++i) {
    const LeafSpec& rate = context.tensor(i);
    if (!is_number(rate.dtype)) context.fail(i, "is " + rate.text() + ", expected a number");
    context.check_rank(i, 0);
  }
  if (!samples.shape.has_rank()) return Spec::of(samples);
  std::vector<int64_t> sizes = samples.shape.sizes();
  sizes[0] = Shape::kUnknown;
  return Spec::tensor(DType::float32, Shape(std::move(sizes)));
}

void resample_row(const RowCall& call) {
  const Tensor& samples = call.inputs[0];
  const double from = number_at(call.inputs[1]), to = number_at(call.inputs[2]);
  const Dims& dims = samples.dims();
  if (!(from > 0) || !(to > 0) || !std::isfinite(from) || !std::isfinite(to) || dims.rank() < 1 ||
      dims.rank() > 2) {
    throw Error(Code::invalid_argument, "resample: cannot bring shape " + dims.text() +
                                            " from rate " + std::to_string(from) + " to " +
                                            std::to_string(to));
  }
  if (from == to) return call.outputs[0].set(samples);
  const double length = std::ceil(static_cast<double>(dims[0]) * to / from);
  // The library's filters grow with the ratio, to gigabytes.
  constexpr double kMostSamples = 0x1p44, kMostRatio = 1 << 14;
  if (!(length <= kMostSamples) || to / from > kMostRatio) {
    throw Error(Code::resource_exhausted,
                "resample: the result is too large: " + std::to_string(dims[0]) +
                    " samples from rate " + std::to_string(from) + " to " + std::to_string(to));
  }
  Dims out = dims;
  out[0] = static_cast<int64_t>(length);
  auto* write = call.outputs[0].allocate_as<float>(out);
  std::fill_n(write, out.entries(), 0.0f);
  if (out.entries() == 0) return;
  const soxr_quality_spec_t quality = soxr_quality_spec(quality_of(call.attrs), 0);
  const soxr_io_spec_t format = soxr_io_spec(SOXR_FLOAT32_I, SOXR_FLOAT32_I);
  const auto channels = static_cast<unsigned>(dims.rank() == 2 ? dims[1] : 1);
  const soxr_runtime_spec_t runtime = soxr_runtime_spec(1);
  size_t read = 0, made = 0;
  const soxr_error_t error =
      soxr_oneshot(from, to, channels, samples.entries<float>(), static_cast<size_t>(dims[0]),
                   &read, write, static_cast<size_t>(out[0]), &made, &format, &quality, &runtime);
  if (error != nullptr) throw Error(Code::internal, std::string("resample: ") + error);
}

// The low-pass filter of scipy.signal.firwin(2 * 10 * most + 1, 1 / most, window=("kaiser", 5)).
ChargedVector<double> low_pass(int64_t most) {
  const int64_t half = 10 * most;
  const ChargedVector<float> window = kaiser_window(2 * half + 1, 5.0);
  ChargedVector<double> out;
  for (int64_t i = -half; i <= half; ++i) {
    const double x = static_cast<double>(i) / static_cast<double>(most) * std::numbers::pi;
    const double sinc = i == 0 ? 1 : std::sin(x) / x;
    out.push_back(sinc * static_cast<double>(window[static_cast<size_t>(i + half)]));
  }
  const double sum = std::accumulate(out.begin(), out.end(), 0.0);
  for (double& value : out) value /= sum;
  return out;
}

struct Ratio {
  int64_t up, down;

  explicit Ratio(const Attrs& attrs)
      : up(positive_attr(attrs, "up", 1)), down(positive_attr(attrs, "down", 1)) {
    const int64_t shared = std::gcd(up, down);
    up /= shared;
    down /= shared;
    if (std::max(up, down) > 1 << 20) throw TypeError{-1, "up", "and down must be below 2^20"};
  }
  int64_t length(int64_t samples) const {
    const bool fits = samples >= 0 && samples <= (INT64_MAX - down) / up;
    return fits ? (samples * up + down - 1) / down : Shape::kUnknown;
  }
};

Spec infer_poly(const InferContext& context) {
  const LeafSpec& samples = infer_signal(context, 0, 1);
  const Ratio ratio(context.attrs);
  if (!samples.shape.has_rank()) return Spec::of(samples);
  const int64_t last = samples.shape[samples.shape.rank() - 1];
  return Spec::tensor(DType::float32, with_last(samples.shape, 1, {ratio.length(last)}));
}

void poly_row(const RowCall& call) {
  const Tensor& samples = call.inputs[0];
  check_signal("resample_poly", samples, 1);
  const Ratio ratio(call.attrs);
  if (ratio.up == ratio.down) return call.outputs[0].set(samples);
  const ChargedVector<double> filter = low_pass(std::max(ratio.up, ratio.down));
  const auto half = static_cast<int64_t>(filter.size() / 2);
  const int64_t n = samples.dims()[samples.dims().rank() - 1], length = ratio.length(n);
  auto* to = call.outputs[0].allocate_as<float>(with_last(samples.dims(), 1, {length}));
  for (int64_t s = 0; s < leading(samples.dims(), 1); ++s) {
    const float* from = samples.entries<float>() + s * n;
    for (int64_t i = 0; i < length; ++i) {
      // Place in the signal with up - 1 zeros behind each sample.
      const int64_t at = i * ratio.down;
      const int64_t first = std::max<int64_t>(0, (at - half + ratio.up - 1) / ratio.up);
      const int64_t last = std::min(n - 1, (at + half) / ratio.up);
      double sum = 0;
      for (int64_t k = first; k <= last; ++k) {
        sum += static_cast<double>(from[k]) * filter[static_cast<size_t>(at - k * ratio.up + half)];
      }
      *to++ = static_cast<float>(sum * static_cast<double>(ratio.up));
    }
  }
}

}  // namespace

void add_resample_ops(OpRegistry* registry) {
  const Param samples = required("samples", Param::Kind::tensor);
  registry->add(audio_op("resample",
                         {samples, required("from_rate", Param::Kind::tensor),
                          required("to_rate", Param::Kind::tensor),
                          option("quality", Param::Kind::text, Attr::text("hq"))},
                         "[samples] or [samples, channels] at another sample rate; quality: qq, "
                         "lq, mq, hq or vhq.",
                         infer_resample, resample_row, 5e5));
  registry->add(audio_op(
      "resample_poly",
      {samples, required("up", Param::Kind::integer), required("down", Param::Kind::integer)},
      "The last axis resampled by up / down with a Kaiser-windowed filter.", infer_poly, poly_row,
      5e5));
}

}  // namespace penstock
