// frame and overlap_and_add.
#include <algorithm>
#include <cstring>
#include <string>

#include "functions/kernels/audio/audio_ops.h"
#include "functions/kernels/math/convert.h"

namespace penstock {
namespace {

struct Framing {
  int64_t length, step;
  bool pad_end;

  explicit Framing(const Attrs& attrs)
      : length(attrs["frame_length"].as_int()),
        step(positive_attr(attrs, "frame_step", 1)),
        pad_end(attrs["pad_end"].as_bool()) {
    if (length < 0) throw TypeError{-1, "frame_length", "must not be negative"};
  }
};

Spec infer_frame(const InferContext& context) {
  const LeafSpec& signal = context.tensor(0);
  if (!is_number(signal.dtype)) context.fail(0, "is " + signal.text() + ", expected numbers");
  if (signal.shape.is_scalar()) context.fail(0, "is " + signal.text() + ", expected an axis");
  const Framing framing(context.attrs);
  if (!signal.shape.has_rank()) return Spec::of(signal);
  const int64_t samples = signal.shape[signal.shape.rank() - 1];
  return Spec::tensor(
      signal.dtype, with_last(signal.shape, 1,
                              {frame_count(samples, framing.length, framing.step, framing.pad_end),
                               framing.length}));
}

void frame_row(const RowCall& call) {
  const Tensor& signal = call.inputs[0];
  check_signal("frame", signal, 1);
  const Framing framing(call.attrs);
  const int64_t samples = signal.dims()[signal.dims().rank() - 1];
  const int64_t frames = frame_count(samples, framing.length, framing.step, framing.pad_end);
  const int64_t entry = dtype_size(signal.dtype());
  const Tensor filler =
      converted(Tensor::scalar<double>(call.attrs["pad_value"].as_float()), signal.dtype());
  std::byte* to = call.outputs[0].allocate(with_last(signal.dims(), 1, {frames, framing.length}));
  for (int64_t s = 0; s < leading(signal.dims(), 1); ++s) {
    for (int64_t f = 0; f < frames; ++f, to += framing.length * entry) {
      const int64_t first = f * framing.step;
      const int64_t here = std::clamp<int64_t>(samples - first, 0, framing.length);
      std::memcpy(to, signal.data() + (s * samples + first) * entry,
                  static_cast<size_t>(here * entry));
      for (int64_t i = here; i < framing.length; ++i) {
        std::memcpy(to + i * entry, filler.data(), static_cast<size_t>(entry));
      }
    }
  }
}

Spec infer_add(const InferContext& context) {
  const LeafSpec& frames = infer_signal(context, 0, 2);
  const int64_t step = positive_attr(context.attrs, "frame_step", 1);
  if (!frames.shape.has_rank()) return Spec::of(frames);
  const int rank = frames.shape.rank();
  return Spec::tensor(
      DType::float32,
      with_last(frames.shape, 2,
                {covered_samples(frames.shape[rank - 2], step, frames.shape[rank - 1])}));
}

void add_row(const RowCall& call) {
  const Tensor& frames = call.inputs[0];
  check_signal("overlap_and_add", frames, 2);
  const int rank = frames.dims().rank();
  const int64_t count = frames.dims()[rank - 2], length = frames.dims()[rank - 1];
  const int64_t step = positive_attr(call.attrs, "frame_step", 1);
  const int64_t samples = covered_samples(count, step, length);
  auto* to = call.outputs[0].allocate_as<float>(with_last(frames.dims(), 2, {samples}));
  const float* from = frames.entries<float>();
  for (int64_t s = 0; s < leading(frames.dims(), 2); ++s, to += samples) {
    std::fill_n(to, samples, 0.0f);
    for (int64_t f = 0; f < count; ++f) {
      for (int64_t i = 0; i < length; ++i) to[f * step + i] += *from++;
    }
  }
}

}  // namespace

void add_frame_ops(OpRegistry* registry) {
  const Param step = required("frame_step", Param::Kind::integer);
  registry->add(audio_op(
      "frame",
      {required("signal", Param::Kind::tensor), required("frame_length", Param::Kind::integer),
       step, option("pad_end", Param::Kind::boolean, Attr::boolean(false)),
       option("pad_value", Param::Kind::floating, Attr::floating(0))},
      "Windows of frame_length along the last axis, frame_step apart; what does "
      "not fill one is left out, or with pad_end filled with pad_value.",
      infer_frame, frame_row, 2e4));
  registry->add(audio_op("overlap_and_add", {required("frames", Param::Kind::tensor), step},
                         "The sum of frames, each frame_step behind the one before.", infer_add,
                         add_row, 2e4));
}

}  // namespace penstock
