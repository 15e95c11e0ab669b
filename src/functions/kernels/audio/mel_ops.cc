// linear_to_mel_weight_matrix and mel_filters: the two usual banks as matrices.
#include <algorithm>
#include <string>

#include "functions/kernels/audio/audio_ops.h"
#include "functions/kernels/audio/mel.h"

namespace penstock {
namespace {

void check_range(const MelScale& scale, const char* low, const char* high) {
  if (scale.rate <= 0) throw TypeError{-1, "sample_rate", "must be positive"};
  if (!(scale.low_hertz >= 0)) throw TypeError{-1, low, "must not be negative"};
  if (!(scale.high_hertz > scale.low_hertz)) {
    throw TypeError{-1, high, "must be above " + std::string(low)};
  }
  if (scale.high_hertz > scale.rate / 2) {
    throw TypeError{-1, high,
                    "must not be above half the sample rate, " + std::to_string(scale.rate / 2)};
  }
}

MelScale matrix_scale(const Attrs& attrs) {
  const MelScale scale{.bands = positive_attr(attrs, "num_mel_bins", 20),
                       .bins = positive_attr(attrs, "num_spectrogram_bins", 129),
                       .rate = attrs["sample_rate"].as_float(),
                       .low_hertz = attrs["lower_edge_hertz"].as_float(),
                       .high_hertz = attrs["upper_edge_hertz"].as_float(),
                       .skip_first = true};
  check_range(scale, "lower_edge_hertz", "upper_edge_hertz");
  return scale;
}

MelScale filters_scale(const Attrs& attrs) {
  const double rate = attrs["sample_rate"].as_float();
  const bool htk = attrs["htk"].as_bool();
  const MelScale scale{.bands = positive_attr(attrs, "num_mel_bins", 128),
                       .bins = positive_attr(attrs, "fft_length", 2048) / 2 + 1,
                       .rate = rate,
                       .low_hertz = attrs["lower_edge_hertz"].as_float(),
                       .high_hertz = attrs["upper_edge_hertz"].is_none()
                                         ? rate / 2
                                         : attrs["upper_edge_hertz"].as_float(),
                       .slaney = !htk,
                       .in_hertz = true,
                       .area_norm = attrs["area_norm"].as_bool()};
  check_range(scale, "lower_edge_hertz", "upper_edge_hertz");
  return scale;
}

Spec infer_matrix(const InferContext& context) {
  const MelScale scale = matrix_scale(context.attrs);
  return Spec::tensor(DType::float32, Shape{scale.bins, scale.bands});
}

void matrix_row(const RowCall& call) {
  const MelBank bank = make_mel_bank(matrix_scale(call.attrs));
  auto* to = call.outputs[0].allocate_as<float>({bank.bins, bank.bands()});
  std::fill_n(to, bank.bins * bank.bands(), 0.0f);
  for (size_t band = 0; band < bank.starts.size(); ++band) {
    for (int64_t i = 0; i < bank.counts[band]; ++i) {
      to[(bank.starts[band] + i) * bank.bands() + static_cast<int64_t>(band)] =
          bank.weights[static_cast<size_t>(bank.offsets[band] + i)];
    }
  }
}

Spec infer_filters(const InferContext& context) {
  const MelScale scale = filters_scale(context.attrs);
  return Spec::tensor(DType::float32, Shape{scale.bands, scale.bins});
}

void filters_row(const RowCall& call) {
  const MelBank bank = make_mel_bank(filters_scale(call.attrs));
  auto* to = call.outputs[0].allocate_as<float>({bank.bands(), bank.bins});
  std::fill_n(to, bank.bins * bank.bands(), 0.0f);
  for (size_t band = 0; band < bank.starts.size(); ++band) {
    std::copy_n(bank.weights.data() + bank.offsets[band], bank.counts[band],
                to + static_cast<int64_t>(band) * bank.bins + bank.starts[band]);
  }
}

}  // namespace

void add_mel_ops(OpRegistry* registry) {
  const auto number = [](const char* name, double value) {
    return optional(name, Param::Kind::floating, Attr::floating(value));
  };
  const auto whole = [](const char* name, int64_t value) {
    return optional(name, Param::Kind::integer, Attr::integer(value));
  };
  registry->add(audio_op(
      "linear_to_mel_weight_matrix",
      {whole("num_mel_bins", 20), whole("num_spectrogram_bins", 129), number("sample_rate", 8000),
       number("lower_edge_hertz", 125), number("upper_edge_hertz", 3800)},
      "[bins, mel bins]: triangles on the HTK mel scale, straight in mel; bin 0 counts nowhere.",
      infer_matrix, matrix_row, 1e5));
  registry->add(audio_op(
      "mel_filters",
      {number("sample_rate", 22050), whole("fft_length", 2048), whole("num_mel_bins", 128),
       number("lower_edge_hertz", 0), option("upper_edge_hertz", Param::Kind::any, {}),
       option("htk", Param::Kind::boolean, Attr::boolean(false)),
       option("area_norm", Param::Kind::boolean, Attr::boolean(true))},
      "[mel bins, bins] as librosa makes them: Slaney's scale, triangles straight in hertz, each "
      "of the same area.",
      infer_filters, filters_row, 1e5));
}

}  // namespace penstock
