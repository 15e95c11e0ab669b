// hann_window, hamming_window, kaiser_window and vorbis_window.
#include <algorithm>
#include <string>

#include "data/charged.h"
#include "functions/kernels/audio/audio_ops.h"
#include "functions/kernels/audio/windows.h"

namespace penstock {
namespace {

Spec infer(const InferContext& context) {
  const LeafSpec& length = context.tensor(0);
  if (!is_integer(length.dtype)) context.fail(0, "is " + length.text() + ", expected an integer");
  context.check_rank(0, 0);
  const std::vector<int64_t> known = context.known_ints(0);
  if (!known.empty() && known[0] < 0) context.fail(0, "must not be negative");
  return Spec::tensor(DType::float32, Shape{known.empty() ? Shape::kUnknown : known[0]});
}

int64_t length_of(const RowCall& call) {
  const int64_t length = integer_at(call.inputs[0]);
  if (length >= 0 && length <= int64_t{1} << 28) return length;
  throw Error(Code::invalid_argument,
              "window: length must lie between 0 and 2^28: " + std::to_string(length));
}

void write(const RowCall& call, const ChargedVector<float>& window) {
  std::ranges::copy(window,
                    call.outputs[0].allocate_as<float>({static_cast<int64_t>(window.size())}));
}

void hann_row(const RowCall& call) {
  write(call, raised_cosine_window(length_of(call), call.attrs["periodic"].as_bool(), 0.5, 0.5));
}
void hamming_row(const RowCall& call) {
  write(call, raised_cosine_window(length_of(call), call.attrs["periodic"].as_bool(), 0.54, 0.46));
}
void kaiser_row(const RowCall& call) {
  write(call, kaiser_window(length_of(call), call.attrs["beta"].as_float()));
}
void vorbis_row(const RowCall& call) { write(call, vorbis_window(length_of(call))); }

}  // namespace

void add_window_ops(OpRegistry* registry) {
  const Param length = required("window_length", Param::Kind::tensor);
  const Param periodic = option("periodic", Param::Kind::boolean, Attr::boolean(true));
  const auto add = [registry](const char* name, std::vector<Param> params, const char* doc,
                              RowKernel row) {
    registry->add(audio_op(name, std::move(params), doc, infer, row, 5000));
  };
  add("hann_window", {length, periodic}, "0.5 - 0.5 cos, once around.", hann_row);
  add("hamming_window", {length, periodic}, "0.54 - 0.46 cos, once around.", hamming_row);
  add("kaiser_window", {length, option("beta", Param::Kind::floating, Attr::floating(12))},
      "The Kaiser window.", kaiser_row);
  add("vorbis_window", {length}, "The window of the Vorbis format.", vorbis_row);
}

}  // namespace penstock
