// Ops that compute pixels: resize and normalize.
#include "functions/kernels/image/image_ops.h"

#include <algorithm>
#include <string>
#include <vector>

#include "functions/kernels/image/pixels.h"
#include "functions/kernels/image/resize.h"

namespace penstock {
namespace {

Spec infer_resize(const InferContext& context) {
  const LeafSpec& image = infer_image(context, 0);
  check_integers(context, 1, 2, "height, width");
  const std::string method = context.attrs["method"].as_string();
  if (method != "bilinear" && method != "nearest") {
    throw TypeError{-1, "method", "is \"" + method + "\", expected \"bilinear\" or \"nearest\""};
  }
  int64_t height = Shape::kUnknown, width = Shape::kUnknown;
  if (const std::vector<int64_t> size = context.known_ints(1); size.size() == 2) {
    height = size[0];
    width = size[1];
    if (height <= 0 || width <= 0) {
      context.fail(1, "must be a positive height and width, is " + side_text(height, width));
    }
  }
  if (method == "bilinear" && !is_number(image.dtype)) {
    context.fail(0, "is " + image.text() + ", expected numbers");
  }
  return Spec::tensor(method == "nearest" ? image.dtype : DType::float32,
                      with_image_size(image.shape, height, width));
}

void resize_row(const RowCall& call) {
  Tensor image = call.inputs[0];
  const Images images = images_in("resize", image);
  int64_t size[2];
  read_integers("resize", call.inputs[1], size);
  check_output_size("resize", size[0], size[1]);
  const bool nearest = call.attrs["method"].as_string() == "nearest";
  const bool antialias = call.attrs["antialias"].as_bool();
  if (!nearest && image.dtype() != DType::uint8) image = to_float32(image);
  const int64_t entry = dtype_size(image.dtype());
  const int64_t from_bytes = images.size.elements() * entry;
  const int64_t to_bytes =
      size[0] * size[1] * images.size.channels * dtype_size(call.outputs[0].dtype());
  std::byte* to = call.outputs[0].allocate(images.dims(size[0], size[1]));
  for (int64_t i = 0; i < images.count; ++i, to += to_bytes) {
    const std::byte* from = image.data() + i * from_bytes;
    auto* floats = reinterpret_cast<float*>(to);
    if (nearest) {
      resize_nearest(from, images.size, entry, size[0], size[1], to);
    } else if (image.dtype() == DType::uint8) {
      resize_bilinear(reinterpret_cast<const uint8_t*>(from), images.size, size[0], size[1],
                      antialias, floats);
    } else {
      resize_bilinear(reinterpret_cast<const float*>(from), images.size, size[0], size[1],
                      antialias, floats);
    }
  }
}

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
  std::vector<float> mean, deviation;
  int channels = 1;

  ChannelTables(const Tensor& mean_tensor, const Tensor& deviation_tensor, int64_t last_axis) {
    const int64_t count = std::max(mean_tensor.entries_count(), deviation_tensor.entries_count());
    channels = static_cast<int>(count);
    read(mean_tensor, last_axis, &mean);
    read(deviation_tensor, last_axis, &deviation);
  }

 private:
  void read(const Tensor& tensor, int64_t last_axis, std::vector<float>* out) {
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

void add_pixel_ops(OpRegistry* registry) {
  OpDef resize;
  resize.name = "resize";
  resize.params = {required("image", Param::Kind::tensor), required("size", Param::Kind::tensor),
                   optional("method", Param::Kind::text, Attr::text("bilinear")),
                   option("antialias", Param::Kind::boolean, Attr::boolean(false))};
  resize.doc = "The image at another size: bilinear gives float32, nearest keeps the dtype.";
  resize.infer = infer_resize;
  resize.row = resize_row;
  resize.can_fail = true;
  resize.large_rows = true;
  resize.cost_ns = 1.2e5;
  resize.group = "image";
  registry->add(std::move(resize));

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
