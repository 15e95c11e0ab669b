// decode_wav, decode_audio and encode_wav.
#include <algorithm>
#include <limits>
#include <string>

#include "functions/kernels/audio/audio_file.h"
#include "functions/kernels/audio/audio_ops.h"

namespace penstock {
namespace {

void check_contents(const InferContext& context) {
  const LeafSpec& type = context.tensor_of(0, DType::bytes);
  if (type.shape.has_rank() && type.shape.rank() != 0) {
    context.fail(0, "is " + type.text() + ", expected bytes: one file; decode before batching");
  }
}

// -1 (as stored), or a number from `least` on.
int64_t wanted(const Attrs& attrs, const char* name, int64_t least) {
  const int64_t value = attrs[name].as_int();
  if (value >= least || value == -1) return value;
  throw TypeError{-1, name,
                  "must be " + std::to_string(least) + " or more, or -1 (as stored), is " +
                      std::to_string(value)};
}

Spec infer_wav(const InferContext& context) {
  check_contents(context);
  const int64_t channels = wanted(context.attrs, "desired_channels", 1);
  const int64_t samples = wanted(context.attrs, "desired_samples", 0);
  return Spec::tuple({Spec::tensor(DType::float32, Shape{samples, channels}),
                      Spec::tensor(DType::int32, Shape{})});
}

Spec infer_audio(const InferContext& context) {
  check_contents(context);
  return Spec::tuple(
      {Spec::tensor(DType::float32, Shape::of_rank(2)), Spec::tensor(DType::int32, Shape{})});
}

// Missing channels repeat the last one; missing samples are silence.
void write(const RowCall& call, const Sound& sound, int64_t frames, int64_t channels) {
  if (frames < 0) frames = sound.frames;
  if (channels < 0) channels = sound.channels;
  auto* to = call.outputs[0].allocate_as<float>({frames, channels});
  for (int64_t i = 0; i < frames; ++i) {
    for (int64_t c = 0; c < channels; ++c) {
      const int64_t at = i * sound.channels + std::min(c, sound.channels - 1);
      *to++ = i < sound.frames ? sound.samples[static_cast<size_t>(at)] : 0.0f;
    }
  }
  *call.outputs[1].allocate_as<int32_t>({}) = static_cast<int32_t>(sound.rate);
}

void wav_row(const RowCall& call) {
  const Sound sound = decode_sound("decode_wav", bytes_at(call.inputs[0]), true,
                                   call.attrs["max_samples"].as_int());
  write(call, sound, wanted(call.attrs, "desired_samples", 0),
        wanted(call.attrs, "desired_channels", 1));
}

void audio_row(const RowCall& call) {
  const Sound sound = decode_sound("decode_audio", bytes_at(call.inputs[0]), false,
                                   call.attrs["max_samples"].as_int());
  write(call, sound, -1, -1);
}

Spec infer_encode(const InferContext& context) {
  infer_signal(context, 0, 2);
  context.check_rank(0, 2);
  if (!is_integer(context.tensor(1).dtype)) context.fail(1, "must be an integer");
  context.check_rank(1, 0);
  return Spec::tensor(DType::bytes, Shape{});
}

void encode_row(const RowCall& call) {
  const Dims& dims = call.inputs[0].dims();
  const int64_t rate = integer_at(call.inputs[1]);
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  const bool fits =
      dims.rank() == 2 && dims[1] > 0 && dims[1] <= 65535 && dims.entries() < kMost / 2 - 36;
  if (rate <= 0 || rate > kMost || !fits) {
    throw Error(Code::invalid_argument, "encode_wav: cannot hold shape " + dims.text() +
                                            " at sample rate " + std::to_string(rate));
  }
  call.outputs[0].set(
      Tensor::of_bytes(encode_wav(call.inputs[0].entries<float>(), dims[0], dims[1], rate)));
}

}  // namespace

void add_audio_file_ops(OpRegistry* registry) {
  const Param contents = required("contents", Param::Kind::tensor);
  const Param most = option("max_samples", Param::Kind::integer, Attr::integer(int64_t{1} << 30));
  registry->add(
      audio_op("decode_wav",
               {contents, option("desired_channels", Param::Kind::integer, Attr::integer(-1)),
                option("desired_samples", Param::Kind::integer, Attr::integer(-1)), most},
               "(float32 [samples, channels], sample rate) of a WAV file of integers or floats.",
               infer_wav, wav_row, 1e5));
  registry->add(audio_op("decode_audio", {contents, most},
                         "(float32 [samples, channels], sample rate) of a WAV, FLAC, OGG or AIFF "
                         "file.",
                         infer_audio, audio_row, 1e6));
  registry->add(audio_op(
      "encode_wav",
      {required("audio", Param::Kind::tensor), required("sample_rate", Param::Kind::tensor)},
      "A WAV file of 16 bits of float32 [samples, channels].", infer_encode, encode_row, 1e5));
}

}  // namespace penstock
