// normalize: (image - mean) / std.
#include "data/charged.h"
#include "functions/kernels/image/image_ops.h"

#include <algorithm>
#include <string>
#include <vector>

#include "functions/kernels/image/pixels.h"

namespace penstock {
namespace {

// Whether `table` can be one entry for each of `channels` (-1: unknown) on the last axis.
bool may_be_table(const LeafSpec& table, int64_t channels) {
  if (!is_number(table.dtype)) return false;
  if (!table.shape.has_rank() || table.shape.rank() == 0) return true;
  if (table.shape.rank() != 1) return false;
  const int64_t size = table.shape[0];
  return size == 1 || size == Shape::kUnknown || channels == Shape::kUnknown || size == channels;
}

Spec infer_normalize(const InferContext& context) {
  const LeafSpec& image = context.tensor(0);
  if (image.dtype == DType::bytes) infer_image(context, 0);  // says how to decode
  if (!is_number(image.dtype)) context.fail(0, "is " + image.text() + ", expected numbers");
  const Shape& shape = image.shape;
  if (shape.is_scalar()) context.fail(0, "is " + image.text() + ", expected channels on an axis");
  const int64_t channels = shape.has_rank() ? shape[shape.rank() - 1] : Shape::kUnknown;
  for (int i = 1; i < 3; ++i) {
    if (may_be_table(context.tensor(i), channels)) continue;
    const std::string size = channels == Shape::kUnknown ? "?" : std::to_string(channels);
    context.fail(i, "is " + context.tensor(i).text() + ", expected float32 or float32[" + size +
                        "]: one for each channel");
  }
  return Spec::tensor(DType::float32, shape);
}

// mean and std as tables of one length: 1, or one entry for each channel.
struct ChannelTables {
  ChargedVector<float> mean, deviation;
  int channels = 1;

  ChannelTables(const Tensor& mean_tensor, const Tensor& deviation_tensor, int64_t last_axis) {
    const int64_t count = std::max(mean_tensor.entries_count(), deviation_tensor.entries_count());
    channels = static_cast<int>(count);
    read(mean_tensor, last_axis, &mean);
    read(deviation_tensor, last_axis, &deviation);
  }

 private:
  void read(const Tensor& tensor, int64_t last_axis, ChargedVector<float>* out) {
    const int64_t count = tensor.entries_count();
    if (tensor.dims().rank() > 1 || (count != 1 && count != last_axis) || channels == 0) {
      throw Error(Code::invalid_argument, "normalize: expected one number or " +
                                              std::to_string(last_axis) + ", got shape " +
                                              tensor.dims().text());
    }
    const Tensor floats = to_float32(tensor);
    for (int c = 0; c < channels; ++c) out->push_back(floats.entry<float>(count == 1 ? 0 : c));
  }
};

void normalize_entries(const Tensor& image, const ChannelTables& tables, float* to) {
  const int64_t pixels = image.entries_count() / tables.channels;
  if (image.dtype() == DType::uint8) {
    normalize(image.entries<uint8_t>(), pixels, tables.channels, tables.mean.data(),
              tables.deviation.data(), to);
  } else {
    const Tensor floats = to_float32(image);
    normalize(floats.entries<float>(), pixels, tables.channels, tables.mean.data(),
              tables.deviation.data(), to);
  }
}

void normalize_row(const RowCall& call) {
  const Tensor& image = call.inputs[0];
  const Dims& dims = image.dims();
  if (dims.rank() == 0) {
    throw Error(Code::invalid_argument, "normalize: expected channels on an axis, got shape []");
  }
  const ChannelTables tables(call.inputs[1], call.inputs[2], dims[dims.rank() - 1]);
  normalize_entries(image, tables, call.outputs[0].allocate_as<float>(dims));
}

bool normalize_block(const BlockCall& call) {
  const Column& images = call.inputs[0];
  const bool fits = images.kind() == Column::Kind::dense && images.row_dims().rank() > 0 &&
                    images.rows() > 0 && call.inputs[1].kind() == Column::Kind::constant &&
                    call.inputs[2].kind() == Column::Kind::constant;
  if (!fits) return false;
  const Dims& dims = images.row_dims();
  for (int i = 1; i < 3; ++i) {  // else each row is to say what is wrong
    const Tensor table = call.inputs[static_cast<size_t>(i)].row(0);
    const int64_t count = table.entries_count();
    if (table.dims().rank() > 1 || (count != 1 && count != dims[dims.rank() - 1])) return false;
    if (count == 0) return false;
  }
  const ChannelTables tables(call.inputs[1].row(0), call.inputs[2].row(0), dims[dims.rank() - 1]);
  const Tensor all(images.dtype(), Dims{call.rows * dims.entries()}, images.buffer(),
                   const_cast<std::byte*>(images.data()));
  call.outputs[0] = Column::dense(DType::float32, dims, call.rows);
  normalize_entries(all, tables, call.outputs[0].mutable_entries<float>());
  return true;
}

}  // namespace

void add_image_normalize_op(OpRegistry* registry) {
  OpDef scale;
  scale.name = "normalize";
  scale.params = {required("image", Param::Kind::tensor), required("mean", Param::Kind::tensor),
                  required("std", Param::Kind::tensor)};
  scale.doc = "(float32(image) - mean) / std with one mean and std, or one for each channel.";
  scale.infer = infer_normalize;
  scale.row = normalize_row;
  scale.block = normalize_block;
  scale.can_fail = true;
  scale.cost_ns = 3e4;
  scale.group = "image";
  registry->add(std::move(scale));
}

}  // namespace penstock
