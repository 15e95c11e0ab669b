// Ops that put an image on a canvas of another size: padding with zeros and central crops.
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "functions/kernels/image/image_ops.h"

namespace penstock {
namespace {

// Output pixel (y, x) is source pixel (y + top, x + left), or zero where that lies outside.
void move_window(const char* op, const RowCall& call, int64_t top, int64_t left, int64_t height,
                 int64_t width) {
  const Tensor& image = call.inputs[0];
  const Images images = images_in(op, image);
  const ImageSize& size = images.size;
  const int64_t pixel = size.channels * dtype_size(image.dtype());
  std::byte* to = call.outputs[0].allocate(images.dims(height, width));
  std::memset(to, 0, static_cast<size_t>(images.count * height * width * pixel));
  const int64_t first_row = std::max<int64_t>(0, -top), first = std::max<int64_t>(0, -left);
  const int64_t rows = std::min(height, size.height - top) - first_row;
  const int64_t columns = std::min(width, size.width - left) - first;
  if (columns <= 0) return;
  for (int64_t i = 0; i < images.count; ++i) {
    for (int64_t y = first_row; y < first_row + rows; ++y) {
      const int64_t from = (i * size.height + y + top) * size.width + first + left;
      std::memcpy(to + ((i * height + y) * width + first) * pixel, image.data() + from * pixel,
                  static_cast<size_t>(columns * pixel));
    }
  }
}

// The known entries of number inputs [from, from + 2), -1 for the others; checks `least`.
std::vector<int64_t> infer_pair(const InferContext& context, int from, int64_t least) {
  std::vector<int64_t> out;  // bounded: a pair
  for (int i = from; i < from + 2; ++i) {
    check_number(context, i);
    const std::vector<int64_t> value = context.known_ints(i);
    if (!value.empty() && value[0] < least) {
      context.fail(
          i, "must be at least " + std::to_string(least) + ", is " + std::to_string(value[0]));
    }
    out.push_back(value.empty() ? Shape::kUnknown : value[0]);
  }
  return out;
}

Spec infer_pad(const InferContext& context) {
  const LeafSpec& image = infer_image(context, 0);
  const std::vector<int64_t> offset = infer_pair(context, 1, 0), target = infer_pair(context, 3, 1);
  for (int axis = 0; axis < 2 && image.shape.has_rank(); ++axis) {
    const int64_t side = image.shape[image.shape.rank() - 3 + axis];
    const auto at = static_cast<size_t>(axis);
    if (side < 0 || offset[at] < 0 || target[at] < 0 || offset[at] <= target[at] - side) continue;
    context.fail(3 + axis, "is too small: offset " + std::to_string(offset[at]) + " + " +
                               std::to_string(side) + " > " + std::to_string(target[at]));
  }
  return Spec::tensor(image.dtype, with_image_size(image.shape, target[0], target[1]));
}

void pad_row(const RowCall& call) {
  const ImageSize size = images_in("pad_to_bounding_box", call.inputs[0]).size;
  const int64_t top = integer_at(call.inputs[1]), left = integer_at(call.inputs[2]);
  const int64_t height = integer_at(call.inputs[3]), width = integer_at(call.inputs[4]);
  check_output_size("pad_to_bounding_box", height, width);
  if (top < 0 || left < 0 || top > height - size.height || left > width - size.width) {
    throw Error(Code::invalid_argument,
                "pad_to_bounding_box: " + side_text(size.height, size.width) + " at y " +
                    std::to_string(top) + ", x " + std::to_string(left) + " does not fit in " +
                    side_text(height, width));
  }
  move_window("pad_to_bounding_box", call, -top, -left, height, width);
}

Spec infer_crop_or_pad(const InferContext& context) {
  const LeafSpec& image = infer_image(context, 0);
  const std::vector<int64_t> target = infer_pair(context, 1, 1);
  return Spec::tensor(image.dtype, with_image_size(image.shape, target[0], target[1]));
}

// Half of what is too much goes at the front, rounded down, and so of what is missing.
int64_t middle(int64_t side, int64_t target) {
  return side >= target ? (side - target) / 2 : -((target - side) / 2);
}

void crop_or_pad_row(const RowCall& call) {
  const ImageSize size = images_in("resize_with_crop_or_pad", call.inputs[0]).size;
  const int64_t height = integer_at(call.inputs[1]), width = integer_at(call.inputs[2]);
  check_output_size("resize_with_crop_or_pad", height, width);
  move_window("resize_with_crop_or_pad", call, middle(size.height, height),
              middle(size.width, width), height, width);
}

// Where the middle `fraction` of a side begins. A fraction written as 0.6 comes as a float32 that
// is larger by up to 3e-8: half of that decides nothing.
int64_t central_start(int64_t side, double fraction) {
  const auto whole = static_cast<double>(side);
  return static_cast<int64_t>((whole - whole * fraction) / 2 + whole * 1.6e-8);
}

bool bad_fraction(double fraction) { return !(fraction > 0 && fraction <= 1); }

Spec infer_central(const InferContext& context) {
  const LeafSpec& image = infer_image(context, 0);
  check_number(context, 1);
  int64_t sides[2] = {Shape::kUnknown, Shape::kUnknown};
  if (const Tensor* constant = context.inputs[1].constant) {
    const double fraction = number_at(*constant);
    if (bad_fraction(fraction)) context.fail(1, "must be above 0 and at most 1");
    for (int axis = 0; axis < 2 && image.shape.has_rank(); ++axis) {
      const int64_t side = image.shape[image.shape.rank() - 3 + axis];
      if (side >= 0) sides[axis] = side - 2 * central_start(side, fraction);
    }
  }
  return Spec::tensor(image.dtype, with_image_size(image.shape, sides[0], sides[1]));
}

void central_row(const RowCall& call) {
  const ImageSize size = images_in("central_crop", call.inputs[0]).size;
  const double fraction = number_at(call.inputs[1]);
  if (bad_fraction(fraction)) {
    throw Error(Code::invalid_argument, "central_crop: central_fraction must be above 0 and at " +
                                            ("most 1: " + std::to_string(fraction)));
  }
  const int64_t top = central_start(size.height, fraction);
  const int64_t left = central_start(size.width, fraction);
  move_window("central_crop", call, top, left, size.height - 2 * top, size.width - 2 * left);
}

}  // namespace

void add_place_ops(OpRegistry* registry) {
  const Param image = required("image", Param::Kind::tensor);
  const Param height = required("target_height", Param::Kind::tensor);
  const Param width = required("target_width", Param::Kind::tensor);
  registry->add(image_op("pad_to_bounding_box",
                         {image, required("offset_height", Param::Kind::tensor),
                          required("offset_width", Param::Kind::tensor), height, width},
                         "The image at an offset of a larger one of zeros.", infer_pad, pad_row,
                         3e4));
  registry->add(image_op("resize_with_crop_or_pad", {image, height, width},
                         "The middle of the image, or zeros around it, for this size.",
                         infer_crop_or_pad, crop_or_pad_row, 3e4));
  registry->add(image_op("central_crop", {image, required("central_fraction", Param::Kind::tensor)},
                         "The middle of the image, this fraction of each side.", infer_central,
                         central_row, 2e4));
}

}  // namespace penstock
