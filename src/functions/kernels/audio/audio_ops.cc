#include "functions/kernels/audio/audio_ops.h"

#include "functions/kernels/families.h"

namespace penstock {

OpDef audio_op(std::string name, std::vector<Param> params, std::string doc,
               Spec (*infer)(const InferContext&), RowKernel row, double cost_ns) {
  OpDef op;
  op.name = std::move(name);
  op.params = std::move(params);
  op.doc = std::move(doc);
  op.infer = infer;
  op.row = row;
  op.can_fail = true;
  op.large_rows = true;
  op.cost_ns = cost_ns;
  op.group = "audio";
  return op;
}

const LeafSpec& infer_signal(const InferContext& context, int i, int rank) {
  const LeafSpec& type = context.tensor_of(i, DType::float32);
  if (type.shape.has_rank() && type.shape.rank() < rank) {
    context.fail(i, "is " + type.text() + ", expected at least " + std::to_string(rank) +
                        (rank == 1 ? " axis" : " axes"));
  }
  return type;
}

void check_signal(const char* op, const Tensor& tensor, int rank) {
  if (tensor.dims().rank() >= rank) return;
  throw Error(Code::invalid_argument, std::string(op) + ": expected at least " +
                                          std::to_string(rank) + " axes, got shape " +
                                          tensor.dims().text());
}

int64_t positive_attr(const Attrs& attrs, const char* name, int64_t otherwise) {
  if (attrs[name].is_none()) return otherwise;
  const int64_t value = attrs[name].as_int();
  constexpr int64_t kMost = int64_t{1} << 31;  // so that products of two fit
  if (value > kMost) {
    throw TypeError{-1, name,
                    "must be at most " + std::to_string(kMost) + ", is " + std::to_string(value)};
  }
  if (value > 0) return value;
  throw TypeError{-1, name, "must be positive, is " + std::to_string(value)};
}

int64_t covered_samples(int64_t frames, int64_t step, int64_t length) {
  constexpr int64_t kMost = int64_t{1} << 56;
  if (frames < 0 || length < 0) return Shape::kUnknown;
  if (frames == 0) return 0;
  return frames - 1 > (kMost - std::min(length, kMost)) / step ? kMost
                                                               : (frames - 1) * step + length;
}

Shape with_last(const Shape& shape, int drop, std::vector<int64_t> sizes) {
  if (!shape.has_rank()) return shape;
  std::vector<int64_t> out(shape.sizes().begin(), shape.sizes().end() - drop);  // bounded: axes
  out.insert(out.end(), sizes.begin(), sizes.end());
  return Shape(std::move(out));
}

Dims with_last(const Dims& dims, int drop, std::vector<int64_t> sizes) {
  std::vector<int64_t> out(dims.sizes().begin(), dims.sizes().end() - drop);  // bounded: axes
  out.insert(out.end(), sizes.begin(), sizes.end());
  return Dims(std::span<const int64_t>(out));
}

int64_t leading(const Dims& dims, int drop) {
  int64_t count = 1;
  for (int i = 0; i < dims.rank() - drop; ++i) count *= dims[i];
  return count;
}

int64_t frame_count(int64_t samples, int64_t length, int64_t step, bool pad_end) {
  if (samples < 0) return Shape::kUnknown;
  if (pad_end) return (samples + step - 1) / step;
  return samples < length ? 0 : (samples - length) / step + 1;
}

void add_audio_ops(OpRegistry* registry) {
  add_audio_file_ops(registry);
  add_window_ops(registry);
  add_frame_ops(registry);
  add_fourier_ops(registry);
  add_stft_ops(registry);
  add_mel_ops(registry);
  add_log_mel_op(registry);
  add_dct_ops(registry);
  add_resample_ops(registry);
  add_decibel_ops(registry);
  add_time_stretch_op(registry);
}

}  // namespace penstock
