// Image ops that draw, keyed by the row.
#include "data/charged.h"
#include "functions/kernels/image/image_ops.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "functions/kernels/image/bounding_box.h"
#include "functions/kernels/image/pixels.h"

namespace penstock {
namespace {

Attr pair_attr(float low, float high) {
  return Attr::list({Attr::of(Tensor::scalar(low)), Attr::of(Tensor::scalar(high))});
}

// Two numbers, given as a list or as a tensor; none leaves `out` as it is.
void read_pair(const Attr& attr, const char* name, float (&out)[2]) {
  if (attr.is_none()) return;
  ChargedVector<double> values;
  if (attr.is_tensor()) {
    const Tensor& tensor = attr.tensor();
    for (int64_t i = 0; is_number(tensor.dtype()) && i < tensor.entries_count(); ++i) {
      values.push_back(number_at(tensor, i));
    }
  }
  for (const Attr& item : attr.items()) {
    if (item.is_tensor() && item.tensor().dims().rank() == 0 && is_number(item.tensor().dtype())) {
      values.push_back(item.as_float());
    }
  }
  const bool good = values.size() == 2 &&
                    std::ranges::all_of(values, [](double v) { return v > 0 && std::isfinite(v); });
  if (!good) throw TypeError{-1, name, "must be two positive numbers"};
  for (size_t i = 0; i < 2; ++i) out[i] = static_cast<float>(values[i]);
}

DistortedBox read_options(const Attrs& attrs) {
  DistortedBox options;
  options.min_object_covered = static_cast<float>(attrs["min_object_covered"].as_float());
  read_pair(attrs["aspect_ratio_range"], "aspect_ratio_range", options.aspect_ratio_range);
  read_pair(attrs["area_range"], "area_range", options.area_range);
  const int64_t attempts = attrs["max_attempts"].as_int();
  if (attempts <= 0 || attempts > 1'000'000) {
    throw TypeError{-1, "max_attempts", "must be between 1 and 1000000"};
  }
  options.max_attempts = static_cast<int>(attempts);
  options.use_image_if_no_bounding_boxes = attrs["use_image_if_no_bounding_boxes"].as_bool();
  return options;
}

Spec infer_sample(const InferContext& context) {
  check_integers(context, 0, 3, "height, width, channels");
  const LeafSpec& boxes = context.tensor_of(1, DType::float32);
  const Shape& shape = boxes.shape;
  const bool empty = shape.is_static() && shape.entries() == 0;
  const int64_t last = shape.rank() > 0 ? shape[shape.rank() - 1] : 4;
  if (!empty && shape.has_rank() &&
      ((shape.rank() != 2 && shape.rank() != 3) || (last != Shape::kUnknown && last != 4))) {
    context.fail(1, "is " + boxes.text() +
                        ", expected float32[1, ?, 4]: boxes [y_min, x_min, y_max, x_max]");
  }
  read_options(context.attrs);
  const DType dtype = context.tensor(0).dtype;
  return Spec::tuple({Spec::tensor(dtype, Shape{3}), Spec::tensor(dtype, Shape{3}),
                      Spec::tensor(DType::float32, Shape{1, 1, 4})});
}

void write_triple(OutputSlot& slot, int64_t first, int64_t second, int64_t third) {
  std::byte* to = slot.allocate({3});
  visit_dtype(slot.dtype(), [&]<typename T>(TypeTag<T>) {
    if constexpr (std::is_integral_v<T>) {
      auto* entries = reinterpret_cast<T*>(to);
      entries[0] = static_cast<T>(first);
      entries[1] = static_cast<T>(second);
      entries[2] = static_cast<T>(third);
    }
  });
}

void sample_row(const RowCall& call) {
  int64_t size[3];
  read_integers("sample_distorted_bounding_box", call.inputs[0], size);
  const Tensor& boxes = call.inputs[1];
  RandomStream stream = row_stream(call);
  const Window window = sample_distorted_bounding_box(
      size[0], size[1],
      std::span(boxes.entries<float>(), static_cast<size_t>(boxes.entries_count())),
      *static_cast<const DistortedBox*>(call.state), [&stream] { return stream.next_uint32(); });
  write_triple(call.outputs[0], window.y, window.x, 0);
  write_triple(call.outputs[1], window.height, window.width, -1);
  auto* box = call.outputs[2].allocate_as<float>({1, 1, 4});
  const auto height = static_cast<float>(size[0]), width = static_cast<float>(size[1]);
  box[0] = static_cast<float>(window.y) / height;
  box[1] = static_cast<float>(window.x) / width;
  box[2] = static_cast<float>(window.y + window.height) / height;
  box[3] = static_cast<float>(window.x + window.width) / width;
}

Spec infer_random_crop(const InferContext& context) {
  const LeafSpec& image = infer_image(context, 0);
  const Shape& shape = image.shape;
  if (shape.has_rank() && shape.rank() != 3) {
    context.fail(0, "is " + image.text() + ", expected one image; crop before batching");
  }
  const LeafSpec& size = context.tensor(1);
  const bool vector = !size.shape.has_rank() || size.shape.rank() == 1;
  const int64_t entries = size.shape.has_rank() && vector ? size.shape[0] : Shape::kUnknown;
  if (!is_integer(size.dtype) || !vector ||
      (entries != Shape::kUnknown && entries != 2 && entries != 3)) {
    context.fail(1,
                 "is " + size.text() + ", expected int64[2] or int64[3]: height, width, channels");
  }
  std::vector<int64_t> sides = context.known_ints(1);
  if (sides.size() < 2) sides = {Shape::kUnknown, Shape::kUnknown};
  for (size_t axis = 0; axis < 2; ++axis) {
    const int64_t whole = shape.has_rank() ? shape[static_cast<int>(axis)] : Shape::kUnknown;
    if (!context.known_ints(1).empty() && sides[axis] <= 0) {
      context.fail(1, "must be a positive height and width");
    }
    if (whole != Shape::kUnknown && sides[axis] > whole) {
      context.fail(
          1, "is " + side_text(sides[0], sides[1]) + ", larger than the image " + shape.text());
    }
  }
  if (!shape.has_rank()) return Spec::tensor(image.dtype, Shape::of_rank(3));
  return Spec::tensor(image.dtype, with_image_size(shape, sides[0], sides[1]));
}

void random_crop_row(const RowCall& call) {
  const Tensor& image = call.inputs[0];
  const ImageSize whole = images_in("random_crop", image).size;
  int64_t size[3] = {0, 0, whole.channels};
  const bool with_channels = call.inputs[1].entries_count() == 3;
  read_integers("random_crop", call.inputs[1], std::span(size, with_channels ? 3 : 2));
  if (size[2] != whole.channels && size[2] != -1) {
    throw Error(Code::invalid_argument, "random_crop: keeps all channels: size asks for " +
                                            std::to_string(size[2]) + " of " +
                                            std::to_string(whole.channels));
  }
  if (image.dims().rank() != 3 || size[0] <= 0 || size[1] <= 0 || size[0] > whole.height ||
      size[1] > whole.width) {
    throw Error(Code::invalid_argument, "random_crop: size " + side_text(size[0], size[1]) +
                                            " does not fit an image of shape " +
                                            image.dims().text());
  }
  RandomStream stream = row_stream(call);
  const auto y = stream.next_below(static_cast<uint64_t>(whole.height - size[0] + 1));
  const auto x = stream.next_below(static_cast<uint64_t>(whole.width - size[1] + 1));
  std::byte* to = call.outputs[0].allocate({size[0], size[1], whole.channels});
  crop(image.data(), whole, dtype_size(image.dtype()), static_cast<int64_t>(y),
       static_cast<int64_t>(x), size[0], size[1], to);
}

Spec infer_flip_normalize(const InferContext& context) {
  const LeafSpec& image = context.tensor(0);
  if (image.dtype != DType::float32 && image.dtype != DType::uint8)
    context.fail(0, "is " + image.text() + ", expected a uint8 or float32 image");
  context.check_rank(0, 3);
  for (int i = 1; i < 3; ++i) {
    const LeafSpec& table = context.tensor(i);
    const bool fits =
        is_number(table.dtype) && (!table.shape.has_rank() || table.shape.rank() <= 1);
    if (!fits)
      context.fail(i, "is " + table.text() + ", expected one number or one for each channel");
  }
  return Spec::tensor(DType::float32, image.shape);
}

// One entry for each channel.
ChargedVector<float> channel_table(const Tensor& given, int64_t channels) {
  const Tensor floats = to_float32(given);
  const int64_t count = floats.entries_count();
  if (floats.dims().rank() > 1 || (count != 1 && count != channels)) {
    throw Error(Code::invalid_argument, "random_flip_normalize: expected one number or " +
                                            std::to_string(channels) + ", got shape " +
                                            given.dims().text());
  }
  ChargedVector<float> out;
  for (int64_t c = 0; c < channels; ++c) out.push_back(floats.entry<float>(count == 1 ? 0 : c));
  return out;
}

// The draw is that of random_flip_left_right, so both spellings give the same pixels.
void flip_normalize_row(const RowCall& call) {
  const Tensor& image = call.inputs[0];
  const Dims& dims = image.dims();
  if (dims.rank() != 3) {
    throw Error(Code::invalid_argument,
                "random_flip_normalize: expected one image, got shape " + dims.text());
  }
  const ChargedVector<float> mean = channel_table(call.inputs[1], dims[2]);
  const ChargedVector<float> deviation = channel_table(call.inputs[2], dims[2]);
  Epilogue epilogue;
  epilogue.subtract = mean.data();
  epilogue.divide = deviation.data();
  epilogue.flip = (row_stream(call).next_uint32() >> 31) != 0;
  const ImageSize size{dims[0], dims[1], dims[2]};
  auto* to = call.outputs[0].allocate_as<float>(dims);
  if (image.dtype() == DType::uint8)
    return normalize_image(image.entries<uint8_t>(), size, epilogue, to);
  normalize_image(image.entries<float>(), size, epilogue, to);
}

Spec infer_random_flip(const InferContext& context) { return Spec::of(infer_image(context, 0)); }

void random_flip_row(const RowCall& call) {
  const Tensor& image = call.inputs[0];
  const Images images = images_in("random_flip_left_right", image);
  RandomStream stream = row_stream(call);
  auto draw = [&stream] { return (stream.next_uint32() >> 31) != 0; };
  const int64_t entry = dtype_size(image.dtype());
  if (!images.batch) {
    if (!draw()) return call.outputs[0].set(image);
    flip_left_right(image.data(), images.size, entry, call.outputs[0].allocate(image.dims()));
    return;
  }
  const int64_t bytes = images.size.elements() * entry;
  std::byte* to = call.outputs[0].allocate(image.dims());
  for (int64_t i = 0; i < images.count; ++i) {
    const std::byte* from = image.data() + i * bytes;
    if (draw()) {
      flip_left_right(from, images.size, entry, to + i * bytes);
    } else if (bytes > 0 && to + i * bytes != from) {
      std::memcpy(to + i * bytes, from, static_cast<size_t>(bytes));
    }
  }
}

}  // namespace

void add_random_image_ops(OpRegistry* registry) {
  OpDef sample = random_image_op(
      "sample_distorted_bounding_box",
      {required("image_size", Param::Kind::tensor),
       required("bounding_boxes", Param::Kind::tensor)},
      "A random window that covers enough of a box: (begin [y, x, 0], size [h, w, -1], box).",
      infer_sample, sample_row, 200);
  for (Param& param : std::vector<Param>{
           option("min_object_covered", Param::Kind::floating, Attr::floating(0.1)),
           option("aspect_ratio_range", Param::Kind::any, pair_attr(0.75f, 1.33f)),
           option("area_range", Param::Kind::any, pair_attr(0.05f, 1.0f)),
           option("max_attempts", Param::Kind::integer, Attr::integer(100)),
           option("use_image_if_no_bounding_boxes", Param::Kind::boolean, Attr::boolean(false))}) {
    sample.params.push_back(std::move(param));
  }
  sample.prepare = [](const Attrs& attrs) -> std::shared_ptr<const void> {
    return std::make_shared<const DistortedBox>(read_options(attrs));
  };
  sample.large_rows = false;
  registry->add(std::move(sample));
  const Param image = required("image", Param::Kind::tensor);
  registry->add(random_image_op("random_crop", {image, required("size", Param::Kind::tensor)},
                                "A window of this height and width at a random place of the image.",
                                infer_random_crop, random_crop_row, 2e4));
  OpDef flip = random_image_op("random_flip_left_right", {image},
                               "The image, mirrored with probability 1/2.", infer_random_flip,
                               random_flip_row, 1e4);
  flip.in_place = true;
  registry->add(std::move(flip));
  registry->add(random_image_op(
      "random_flip_normalize",
      {image, required("mean", Param::Kind::tensor), required("std", Param::Kind::tensor)},
      "normalize(random_flip_left_right(image), mean, std) in one pass; mean and std are one "
      "number "
      "or one for each channel.",
      infer_flip_normalize, flip_normalize_row, 3e4));
}

}  // namespace penstock
