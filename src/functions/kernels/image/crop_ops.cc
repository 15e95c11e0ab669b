// Ops that move pixels without looking at them: crops and flips.
#include "functions/kernels/image/image_ops.h"

#include <cstring>
#include <string>
#include <vector>

#include "functions/kernels/image/bounding_box.h"
#include "functions/kernels/image/pixels.h"

namespace penstock {
namespace {

void crop_to(std::string_view op, const RowCall& call, const Window& window) {
  const Tensor& image = call.inputs[0];
  const Images images = images_in(op, image);
  const ImageSize& size = images.size;
  const bool inside = window.y >= 0 && window.x >= 0 && window.height > 0 && window.width > 0 &&
                      window.y < size.height && window.x < size.width &&
                      window.height <= size.height - window.y &&
                      window.width <= size.width - window.x;
  if (!inside) {
    throw Error(Code::invalid_argument, std::string(op) + ": window outside the image: y " +
                                            std::to_string(window.y) + ", x " +
                                            std::to_string(window.x) + ", size " +
                                            side_text(window.height, window.width) + ", image " +
                                            side_text(size.height, size.width));
  }
  const int64_t entry = dtype_size(image.dtype());
  const int64_t from_bytes = size.elements() * entry;
  const int64_t to_bytes = window.height * window.width * size.channels * entry;
  std::byte* to = call.outputs[0].allocate(images.dims(window.height, window.width));
  for (int64_t i = 0; i < images.count; ++i) {
    crop(image.data() + i * from_bytes, size, entry, window.y, window.x, window.height,
         window.width, to + i * to_bytes);
  }
}

// A window's entry that may be known: y, x, height or width; -1 when not.
int64_t known(const InferContext& context, int i) {
  const std::vector<int64_t> values = context.known_ints(i);
  return values.size() == 1 ? values[0] : Shape::kUnknown;
}

void check_window(const InferContext& context, int input, const LeafSpec& image, int axis,
                  int64_t from, int64_t extent, bool extent_known) {
  if (from < -1 || (extent_known && extent <= 0)) {
    context.fail(input, "must be a window with y, x >= 0 and height, width > 0");
  }
  if (!image.shape.has_rank() || !extent_known || from < 0) return;
  const int64_t size = image.shape[image.shape.rank() - 3 + axis];
  if (size != Shape::kUnknown && from > size - extent) {
    context.fail(input, "gives a window outside the image: " + std::to_string(from) + " + " +
                            std::to_string(extent) + " > " + std::to_string(size) + " on the " +
                            (axis == 0 ? "y" : "x") + " axis");
  }
}

Spec infer_crop(const InferContext& context) {
  const LeafSpec& image = infer_image(context, 0);
  check_integers(context, 1, 4, "y, x, height, width");
  const std::vector<int64_t> window = context.known_ints(1);
  int64_t sides[2] = {Shape::kUnknown, Shape::kUnknown};
  if (window.size() == 4) {
    for (int axis = 0; axis < 2; ++axis) {
      const auto at = static_cast<size_t>(axis);
      if (window[at] < 0) context.fail(1, "must be a window with y, x >= 0");
      check_window(context, 1, image, axis, window[at], window[at + 2], true);
      sides[axis] = window[at + 2];
    }
  }
  return Spec::tensor(image.dtype, with_image_size(image.shape, sides[0], sides[1]));
}

void crop_row(const RowCall& call) {
  int64_t window[4];
  read_integers("crop", call.inputs[1], window);
  crop_to("crop", call, {window[0], window[1], window[2], window[3]});
}

Spec infer_crop_to_box(const InferContext& context) {
  const LeafSpec& image = infer_image(context, 0);
  for (int i = 1; i < 5; ++i) {
    const LeafSpec& type = context.tensor(i);
    if (!is_integer(type.dtype) || (type.shape.has_rank() && type.shape.rank() != 0)) {
      context.fail(i, "is " + type.text() + ", expected an integer");
    }
  }
  for (int axis = 0; axis < 2; ++axis) {
    const std::vector<int64_t> offset = context.known_ints(1 + axis);
    if (!offset.empty() && offset[0] < 0) context.fail(1 + axis, "must not be negative");
    const bool extent_known = !context.known_ints(3 + axis).empty();
    check_window(context, 3 + axis, image, axis, known(context, 1 + axis), known(context, 3 + axis),
                 extent_known);
  }
  return Spec::tensor(image.dtype,
                      with_image_size(image.shape, known(context, 3), known(context, 4)));
}

void crop_to_box_row(const RowCall& call) {
  crop_to("crop_to_bounding_box", call,
          {integer_at(call.inputs[1]), integer_at(call.inputs[2]), integer_at(call.inputs[3]),
           integer_at(call.inputs[4])});
}

void flip_columns_row(const RowCall& call) {
  const Tensor& image = call.inputs[0];
  Images images = images_in("flip_left_right", image);
  std::byte* to = call.outputs[0].allocate(image.dims());
  images.size.height *= images.count;  // rows of all images are mirrored alike
  flip_left_right(image.data(), images.size, dtype_size(image.dtype()), to);
}

void flip_rows_row(const RowCall& call) {
  const Tensor& image = call.inputs[0];
  const Images images = images_in("flip_up_down", image);
  const int64_t height = images.size.height;
  const int64_t row_bytes = images.size.width * images.size.channels * dtype_size(image.dtype());
  std::byte* to = call.outputs[0].allocate(image.dims());
  if (row_bytes == 0) return;
  for (int64_t i = 0; i < images.count; ++i) {
    for (int64_t y = 0; y < height; ++y) {
      std::memcpy(to + (i * height + y) * row_bytes,
                  image.data() + (i * height + height - 1 - y) * row_bytes,
                  static_cast<size_t>(row_bytes));
    }
  }
}

OpDef moving_op(std::string name, std::string doc, Spec (*infer)(const InferContext&),
                RowKernel row) {
  OpDef op;
  op.name = std::move(name);
  op.params = {required("image", Param::Kind::tensor)};
  op.doc = std::move(doc);
  op.infer = infer;
  op.row = row;
  op.large_rows = true;
  op.cost_ns = 2e4;
  op.group = "image";
  return op;
}

}  // namespace

void add_crop_ops(OpRegistry* registry) {
  OpDef window =
      moving_op("crop", "The window [y, x, height, width] of an image.", infer_crop, crop_row);
  window.params.push_back(required("window", Param::Kind::tensor));
  window.can_fail = true;
  registry->add(std::move(window));

  OpDef box = moving_op("crop_to_bounding_box", "The window of an image at an offset.",
                        infer_crop_to_box, crop_to_box_row);
  for (const char* name : {"offset_height", "offset_width", "target_height", "target_width"}) {
    box.params.push_back(required(name, Param::Kind::tensor));
  }
  box.can_fail = true;
  registry->add(std::move(box));

  // A row fails only where the rank was not known at build.
  OpDef left_right = moving_op("flip_left_right", "The image with its columns in reverse order.",
                               infer_same_image, flip_columns_row);
  left_right.can_fail = true;
  left_right.in_place = true;
  registry->add(std::move(left_right));
  OpDef up_down = moving_op("flip_up_down", "The image with its rows in reverse order.",
                            infer_same_image, flip_rows_row);
  up_down.can_fail = true;
  registry->add(std::move(up_down));
}

}  // namespace penstock
