// crop_and_resize: boxes cut out of images and brought to one size.
#include <cmath>
#include <string>

#include "functions/kernels/image/image_ops.h"

namespace penstock {
namespace {

constexpr const char* kOp = "crop_and_resize";

Spec infer(const InferContext& context) {
  const LeafSpec& images = infer_image(context, 0);
  if (!is_number(images.dtype)) context.fail(0, "is " + images.text() + ", expected numbers");
  const LeafSpec& boxes = context.tensor_of(1, DType::float32);
  context.check_rank(1, 2);
  if (boxes.shape.has_rank() && boxes.shape[1] != 4 && boxes.shape[1] != Shape::kUnknown) {
    context.fail(1, "is " + boxes.text() + ", expected float32[?, 4]: y0, x0, y1, x1");
  }
  if (!is_integer(context.tensor(2).dtype)) context.fail(2, "must be integers");
  context.check_rank(2, 1);
  check_integers(context, 3, 2, "height, width");
  const std::string method = context.attrs["method"].as_string();
  if (method != "bilinear" && method != "nearest") {
    throw TypeError{-1, "method", "is \"" + method + "\", expected \"bilinear\" or \"nearest\""};
  }
  std::vector<int64_t> size = context.known_ints(3);
  if (size.size() != 2) size = {Shape::kUnknown, Shape::kUnknown};
  const int64_t channels =
      images.shape.has_rank() ? images.shape[images.shape.rank() - 1] : Shape::kUnknown;
  const int64_t count = boxes.shape.has_rank() ? boxes.shape[0] : Shape::kUnknown;
  return Spec::tensor(DType::float32, Shape{count, size[0], size[1], channels});
}

// Where output place i of `count` lies between `low` and `high` (fractions of side - 1).
float place(int64_t i, int64_t count, float low, float high, int64_t side) {
  const auto last = static_cast<float>(side - 1);
  if (count <= 1) return 0.5f * (low + high) * last;
  const float scale = (high - low) * last / static_cast<float>(count - 1);
  return low * last + static_cast<float>(i) * scale;
}

bool outside(float at, int64_t side) { return !(at >= 0 && at <= static_cast<float>(side - 1)); }

struct Crop {
  const float* image;
  ImageSize size;
  bool nearest;
  float fill;
};

void sample_pixel(const Crop& crop, float y, float x, float* to) {
  const int64_t channels = crop.size.channels;
  const auto pixel = [&](int64_t row, int64_t column) {
    return crop.image + (row * crop.size.width + column) * channels;
  };
  if (crop.nearest) {
    const float* from =
        pixel(static_cast<int64_t>(std::round(y)), static_cast<int64_t>(std::round(x)));
    for (int64_t c = 0; c < channels; ++c) to[c] = from[c];
    return;
  }
  const auto top = static_cast<int64_t>(std::floor(y)), left = static_cast<int64_t>(std::floor(x));
  const auto bottom = static_cast<int64_t>(std::ceil(y));
  const auto right = static_cast<int64_t>(std::ceil(x));
  const float down = y - static_cast<float>(top), over = x - static_cast<float>(left);
  const float *a = pixel(top, left), *b = pixel(top, right), *c = pixel(bottom, left),
              *d = pixel(bottom, right);
  for (int64_t i = 0; i < channels; ++i) {
    const float upper = a[i] + (b[i] - a[i]) * over;
    const float lower = c[i] + (d[i] - c[i]) * over;
    to[i] = upper + (lower - upper) * down;
  }
}

void crop_box(const Crop& crop, const float* box, int64_t height, int64_t width, float* to) {
  for (int64_t y = 0; y < height; ++y) {
    const float row = place(y, height, box[0], box[2], crop.size.height);
    for (int64_t x = 0; x < width; ++x, to += crop.size.channels) {
      const float column = place(x, width, box[1], box[3], crop.size.width);
      if (outside(row, crop.size.height) || outside(column, crop.size.width)) {
        std::fill_n(to, crop.size.channels, crop.fill);
      } else {
        sample_pixel(crop, row, column, to);
      }
    }
  }
}

void row(const RowCall& call) {
  const Tensor image = to_float32(call.inputs[0]);
  const Images images = images_in(kOp, image);
  const Tensor &boxes = call.inputs[1], &indices = call.inputs[2];
  int64_t size[2];
  read_integers(kOp, call.inputs[3], size);
  check_output_size(kOp, size[0], size[1]);
  const int64_t count = boxes.dims()[0];
  if (count > 0) check_output_size(kOp, images.size.height, images.size.width);
  if (boxes.dims()[1] != 4 || indices.entries_count() != count) {
    throw Error(Code::invalid_argument,
                "crop_and_resize: expected boxes [n, 4] and n indices, got " + boxes.dims().text() +
                    " and " + indices.dims().text());
  }
  Crop crop{nullptr, images.size, call.attrs["method"].as_string() == "nearest",
            static_cast<float>(call.attrs["extrapolation_value"].as_float())};
  auto* to = call.outputs[0].allocate_as<float>({count, size[0], size[1], images.size.channels});
  for (int64_t i = 0; i < count; ++i) {
    const float* box = boxes.entries<float>() + 4 * i;
    for (int k = 0; k < 4; ++k) {
      if (!std::isfinite(box[k])) {
        throw Error(Code::invalid_argument,
                    "crop_and_resize: box " + std::to_string(i) + " is not finite");
      }
    }
    const int64_t which = integer_at(indices, i);
    if (which < 0 || which >= images.count) {
      throw Error(Code::out_of_range, "crop_and_resize: image " + std::to_string(which) + " of " +
                                          std::to_string(images.count));
    }
    crop.image = image.entries<float>() + which * images.size.elements();
    crop_box(crop, box, size[0], size[1], to + i * size[0] * size[1] * images.size.channels);
  }
}

}  // namespace

void add_crop_and_resize_op(OpRegistry* registry) {
  registry->add(image_op(
      "crop_and_resize",
      {required("images", Param::Kind::tensor), required("boxes", Param::Kind::tensor),
       required("box_indices", Param::Kind::tensor), required("crop_size", Param::Kind::tensor),
       option("method", Param::Kind::text, Attr::text("bilinear")),
       option("extrapolation_value", Param::Kind::floating, Attr::floating(0))},
      "Boxes [y0, x0, y1, x1] (corners at 0 and 1) of the images that box_indices names, resized.",
      infer, row, 2e5));
}

}  // namespace penstock
