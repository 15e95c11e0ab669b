// draw_bounding_boxes.
#include <algorithm>
#include <string>

#include "functions/kernels/image/image_ops.h"

namespace penstock {
namespace {

constexpr const char* kOp = "draw_bounding_boxes";

Spec infer(const InferContext& context) {
  const LeafSpec& image = infer_image(context, 0);
  if (image.dtype != DType::float32) {
    context.fail(0, "is " + image.text() + ", expected float32");
  }
  context.tensor_of(1, DType::float32);
  context.tensor_of(2, DType::float32);
  context.check_rank(2, 2);
  return Spec::of(image);
}

struct Canvas {
  float* pixels;
  ImageSize size;
  const float* color;

  void line(int64_t y0, int64_t x0, int64_t y1, int64_t x1) const {
    for (int64_t y = y0; y <= y1; ++y) {
      for (int64_t x = x0; x <= x1; ++x) {
        std::copy_n(color, size.channels, pixels + (y * size.width + x) * size.channels);
      }
    }
  }
};

// A frame one pixel wide; sides outside the image are left out.
void draw(const Canvas& canvas, const float* box) {
  const int64_t bottom = canvas.size.height - 1, right = canvas.size.width - 1;
  const auto at = [](float fraction, int64_t last) {
    return static_cast<int64_t>(std::clamp(fraction, -1e6f, 1e6f) * static_cast<float>(last));
  };
  const int64_t y0 = at(box[0], bottom), x0 = at(box[1], right);
  const int64_t y1 = at(box[2], bottom), x1 = at(box[3], right);
  if (!(y0 <= y1 && x0 <= x1) || y0 > bottom || x0 > right || y1 < 0 || x1 < 0) return;
  const int64_t top = std::max<int64_t>(y0, 0), left = std::max<int64_t>(x0, 0);
  const int64_t low = std::min(y1, bottom), far = std::min(x1, right);
  if (y0 >= 0) canvas.line(y0, left, y0, far);
  if (y1 <= bottom) canvas.line(y1, left, y1, far);
  if (x0 >= 0) canvas.line(top, x0, low, x0);
  if (x1 <= right) canvas.line(top, x1, low, x1);
}

void row(const RowCall& call) {
  const Tensor &image = call.inputs[0], &boxes = call.inputs[1];
  const Images images = images_in(kOp, image);
  const int rank = boxes.dims().rank();
  const int64_t count = rank >= 2 ? boxes.dims()[rank - 2] : 0;
  const bool fits = rank == (images.batch ? 3 : 2) && boxes.dims()[rank - 1] == 4 &&
                    (!images.batch || boxes.dims()[0] == images.count);
  if (!fits) {
    throw Error(Code::invalid_argument, std::string(kOp) +
                                            ": expected boxes [n, 4] for each image, got shape " +
                                            boxes.dims().text());
  }
  const Tensor& colors = call.inputs[2];
  if (colors.dims()[0] == 0 || colors.dims()[1] < images.size.channels) {
    throw Error(
        Code::invalid_argument,
        std::string(kOp) + ": expected colors [n, channels], got shape " + colors.dims().text());
  }
  auto* to = call.outputs[0].allocate_as<float>(image.dims());
  std::copy_n(image.entries<float>(), image.entries_count(), to);
  for (int64_t n = 0; n < images.count; ++n, to += images.size.elements()) {
    for (int64_t i = 0; i < count; ++i) {
      draw({to, images.size, colors.entries<float>() + i % colors.dims()[0] * colors.dims()[1]},
           boxes.entries<float>() + (n * count + i) * 4);
    }
  }
}

}  // namespace

void add_draw_boxes_op(OpRegistry* registry) {
  registry->add(image_op(
      kOp,
      {required("image", Param::Kind::tensor), required("boxes", Param::Kind::tensor),
       required("colors", Param::Kind::tensor)},
      "The float32 image with frames around boxes [y0, x0, y1, x1], in turn in the colours.", infer,
      row, 5e4));
}

}  // namespace penstock
