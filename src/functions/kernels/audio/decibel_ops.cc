// power_to_db, amplitude_to_db, preemphasis and trim_silence.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "data/charged.h"
#include "functions/kernels/audio/audio_ops.h"

namespace penstock {
namespace {

Spec infer_decibels(const InferContext& context) {
  const LeafSpec& values = context.tensor(0);
  if (values.dtype != DType::float32 && values.dtype != DType::float64) {
    context.fail(0, "is " + values.text() + ", expected float32 or float64");
  }
  for (const char* name : {"ref", "amin"}) {
    if (!(context.attrs[name].as_float() > 0)) throw TypeError{-1, name, "must be positive"};
  }
  return Spec::of(values);
}

// `order`: 10 for powers, 20 for amplitudes.
void decibels(const RowCall& call, double order) {
  const Tensor& values = call.inputs[0];
  const double least = call.attrs["amin"].as_float();
  const double reference = order * std::log10(std::max(least, call.attrs["ref"].as_float()));
  const Attr& top = call.attrs["top_db"];
  const int64_t count = values.entries_count();
  std::byte* to = call.outputs[0].allocate(values.dims());
  visit_dtype(values.dtype(), [&]<typename T>(TypeTag<T>) {
    if constexpr (std::is_floating_point_v<T>) {
      auto* out = reinterpret_cast<T*>(to);
      T most = -std::numeric_limits<T>::infinity();
      for (int64_t i = 0; i < count; ++i) {
        const auto value = std::fabs(static_cast<double>(values.entries<T>()[i]));
        out[i] = static_cast<T>(order * std::log10(std::max(least, value)) - reference);
        most = std::max(most, out[i]);
      }
      if (top.is_none()) return;
      const auto floor = static_cast<T>(static_cast<double>(most) - top.as_float());
      for (int64_t i = 0; i < count; ++i) out[i] = std::max(out[i], floor);
    }
  });
}

void power_row(const RowCall& call) { decibels(call, 10); }
void amplitude_row(const RowCall& call) { decibels(call, 20); }

Spec infer_emphasis(const InferContext& context) { return Spec::of(infer_signal(context, 0, 1)); }

// The sample before the first is taken as 2 x[0] - x[1], what a straight line gives.
void emphasis_row(const RowCall& call) {
  const Tensor& signal = call.inputs[0];
  check_signal("preemphasis", signal, 1);
  const int64_t n = signal.dims()[signal.dims().rank() - 1];
  const auto factor = static_cast<float>(call.attrs["coef"].as_float());
  auto* to = call.outputs[0].allocate_as<float>(signal.dims());
  for (int64_t s = 0; n > 0 && s < leading(signal.dims(), 1); ++s) {
    const float* from = signal.entries<float>() + s * n;
    to[0] = from[0] + (n > 1 ? 2 * from[0] - from[1] : 0.0f);
    for (int64_t i = 1; i < n; ++i) to[i] = from[i] - factor * from[i - 1];
    to += n;
  }
}

Spec infer_trim(const InferContext& context) {
  infer_signal(context, 0, 1);
  context.check_rank(0, 1);
  return Spec::tensor(DType::int64, Shape{2});
}

void trim_row(const RowCall& call) {
  const Tensor& signal = call.inputs[0];
  const int64_t n = signal.entries_count();
  const double top_db = call.attrs["top_db"].as_float();
  const int64_t length = positive_attr(call.attrs, "frame_length", 2048);
  const int64_t step = positive_attr(call.attrs, "frame_step", 512);
  ChargedVector<double> power;
  for (int64_t f = 0; f * step <= n; ++f) {  // frames lie around f * step, zeros outside
    double sum = 0;
    const int64_t first = f * step - length / 2;
    for (int64_t i = std::max<int64_t>(0, first); i < std::min(n, first + length); ++i) {
      const auto value = static_cast<double>(signal.entries<float>()[i]);
      sum += value * value;
    }
    power.push_back(sum / static_cast<double>(length));
  }
  const double most = std::max(1e-10, *std::ranges::max_element(power));
  const auto loud = [&](double value) {
    return 10 * std::log10(std::max(1e-10, value) / most) > -top_db;
  };
  const auto first = std::ranges::find_if(power, loud) - power.begin();
  const auto behind = power.rend() - std::find_if(power.rbegin(), power.rend(), loud);
  auto* to = call.outputs[0].allocate_as<int64_t>({2});
  const bool silent = behind == 0 || n == 0;
  to[0] = silent ? 0 : std::min<int64_t>(n, first * step);
  to[1] = silent ? 0 : std::min<int64_t>(n, behind * step);
}

}  // namespace

void add_decibel_ops(OpRegistry* registry) {
  const auto number = [](const char* name, double value) {
    return option(name, Param::Kind::floating, Attr::floating(value));
  };
  const Param top = option("top_db", Param::Kind::any, Attr::floating(80));
  registry->add(audio_op(
      "power_to_db",
      {required("power", Param::Kind::tensor), number("ref", 1), number("amin", 1e-10), top},
      "10 log10(power / ref), at most top_db below the largest.", infer_decibels, power_row, 1e5));
  registry->add(audio_op(
      "amplitude_to_db",
      {required("amplitude", Param::Kind::tensor), number("ref", 1), number("amin", 1e-5), top},
      "20 log10(amplitude / ref), at most top_db below the largest.", infer_decibels, amplitude_row,
      1e5));
  registry->add(
      audio_op("preemphasis", {required("signal", Param::Kind::tensor), number("coef", 0.97)},
               "Each sample less coef times the one before.", infer_emphasis, emphasis_row, 2e4));
  registry->add(audio_op("trim_silence",
                         {required("signal", Param::Kind::tensor), number("top_db", 60),
                          option("frame_length", Param::Kind::integer, Attr::integer(2048)),
                          option("frame_step", Param::Kind::integer, Attr::integer(512))},
                         "[begin, end) without the ends that are top_db below the loudest frame.",
                         infer_trim, trim_row, 2e4));
}

}  // namespace penstock
