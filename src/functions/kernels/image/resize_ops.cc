// resize, resize_legacy and resize_with_pad.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "data/charged.h"
#include "functions/kernels/image/image_ops.h"
#include "functions/kernels/image/resize.h"
#include "functions/kernels/math/convert.h"

namespace penstock {
namespace {

ResizeMethod infer_method(const InferContext& context, const LeafSpec& image, bool legacy) {
  const std::string name = context.attrs["method"].as_string();
  const std::optional<ResizeMethod> method = parse_resize_method(name);
  if (!method || (legacy && *method > ResizeMethod::area)) {
    throw TypeError{-1, "method",
                    "is \"" + name + "\", expected nearest, bilinear, bicubic" +
                        (legacy ? " or area"
                                : ", area, lanczos3, lanczos5, gaussian or "
                                  "mitchellcubic")};
  }
  if (*method != ResizeMethod::nearest && !is_number(image.dtype)) {
    context.fail(0, "is " + image.text() + ", expected numbers");
  }
  return *method;
}

DType output_dtype(ResizeMethod method, const LeafSpec& image, bool keep) {
  return keep || method == ResizeMethod::nearest ? image.dtype : DType::float32;
}

// The output's height and width where they are known.
std::vector<int64_t> infer_size(const InferContext& context) {
  check_integers(context, 1, 2, "height, width");
  std::vector<int64_t> size = context.known_ints(1);
  if (size.size() != 2) return {Shape::kUnknown, Shape::kUnknown};
  if (size[0] <= 0 || size[1] <= 0) {
    context.fail(1, "must be a positive height and width, is " + side_text(size[0], size[1]));
  }
  return size;
}

Spec infer_resize(const InferContext& context) {
  const LeafSpec& image = infer_image(context, 0);
  std::vector<int64_t> size = infer_size(context);
  const ResizeMethod method = infer_method(context, image, false);
  if (context.attrs["preserve_aspect_ratio"].as_bool()) size = {Shape::kUnknown, Shape::kUnknown};
  const DType dtype = output_dtype(method, image, context.attrs["keep_dtype"].as_bool());
  return Spec::tensor(dtype, with_image_size(image.shape, size[0], size[1]));
}

Spec infer_legacy(const InferContext& context) {
  const LeafSpec& image = infer_image(context, 0);
  const std::vector<int64_t> size = infer_size(context);
  const ResizeMethod method = infer_method(context, image, true);
  if (context.attrs["align_corners"].as_bool() && context.attrs["half_pixel_centers"].as_bool()) {
    throw TypeError{-1, "align_corners", "cannot be combined with half_pixel_centers"};
  }
  return Spec::tensor(output_dtype(method, image, false),
                      with_image_size(image.shape, size[0], size[1]));
}

// One image of any dtype that `how` takes, into packed output.
void resize_one(const Tensor& image, const std::byte* from, ImageSize size, int64_t height,
                int64_t width, const Resizing& how, std::byte* to) {
  auto* floats = reinterpret_cast<float*>(to);
  if (how.method == ResizeMethod::nearest) {
    resize_nearest(from, size, dtype_size(image.dtype()), height, width, how.placement, to);
  } else if (image.dtype() == DType::uint8) {
    resize_image(reinterpret_cast<const uint8_t*>(from), size, height, width, how, floats);
  } else {
    resize_image(reinterpret_cast<const float*>(from), size, height, width, how, floats);
  }
}

Tensor resizable(const Tensor& image, const Resizing& how) {
  const bool as_it_is = how.method == ResizeMethod::nearest || image.dtype() == DType::uint8;
  return as_it_is ? image : to_float32(image);
}

// Integers get the nearest one, halves up, within their range.
void round_to(DType dtype, std::span<float> values, std::byte* to) {
  if (dtype == DType::uint8) {
    auto* pixels = reinterpret_cast<uint8_t*>(to);
    for (const float v : values)
      *pixels++ = static_cast<uint8_t>(std::clamp(v + 0.5F, 0.0F, 255.0F));
    return;
  }
  if (is_integer(dtype)) {
    for (float& v : values) v = std::floor(v + 0.5F);
  }
  convert_entries(DType::float32, reinterpret_cast<const std::byte*>(values.data()), dtype, to,
                  static_cast<int64_t>(values.size()));
}

void resize_all(const char* op, const RowCall& call, int64_t height, int64_t width,
                const Resizing& how) {
  check_output_size(op, height, width);
  const Tensor image = resizable(call.inputs[0], how);
  const Images images = images_in(op, image);
  const int64_t from_bytes = images.size.elements() * dtype_size(image.dtype());
  const int64_t entries = height * width * images.size.channels;
  const DType dtype = call.outputs[0].dtype();
  std::byte* to = call.outputs[0].allocate(images.dims(height, width));
  const bool direct = how.method == ResizeMethod::nearest || dtype == DType::float32;
  ChargedVector<float> floats(direct ? 0 : static_cast<size_t>(entries));
  for (int64_t i = 0; i < images.count; ++i, to += entries * dtype_size(dtype)) {
    std::byte* result = direct ? to : reinterpret_cast<std::byte*>(floats.data());
    resize_one(image, image.data() + i * from_bytes, images.size, height, width, how, result);
    if (!direct) round_to(dtype, floats, to);
  }
}

ResizeMethod method_of(const RowCall& call) {
  return *parse_resize_method(call.attrs["method"].as_string());
}

// The largest size of the image's shape within `size`.
void keep_aspect_ratio(const ImageSize& image, int64_t (&size)[2]) {
  const float sides[2] = {static_cast<float>(image.height), static_cast<float>(image.width)};
  const float scale =
      std::min(static_cast<float>(size[0]) / sides[0], static_cast<float>(size[1]) / sides[1]);
  for (int i = 0; i < 2; ++i) size[i] = static_cast<int64_t>(std::nearbyint(scale * sides[i]));
}

void resize_row(const RowCall& call) {
  int64_t size[2];
  read_integers("resize", call.inputs[1], size);
  if (call.attrs["preserve_aspect_ratio"].as_bool()) {
    check_output_size("resize", size[0], size[1]);
    keep_aspect_ratio(images_in("resize", call.inputs[0]).size, size);
  }
  resize_all("resize", call, size[0], size[1],
             {.method = method_of(call), .antialias = call.attrs["antialias"].as_bool()});
}

void legacy_row(const RowCall& call) {
  int64_t size[2];
  read_integers("resize_legacy", call.inputs[1], size);
  resize_all("resize_legacy", call, size[0], size[1],
             {.method = method_of(call),
              .placement = {call.attrs["half_pixel_centers"].as_bool(),
                            call.attrs["align_corners"].as_bool()}});
}

Spec infer_with_pad(const InferContext& context) {
  const LeafSpec& image = infer_image(context, 0);
  int64_t sides[2] = {Shape::kUnknown, Shape::kUnknown};
  for (int i = 0; i < 2; ++i) {
    check_number(context, 1 + i);
    const std::vector<int64_t> side = context.known_ints(1 + i);
    if (side.empty()) continue;
    if (side[0] <= 0) context.fail(1 + i, "must be positive, is " + std::to_string(side[0]));
    sides[i] = side[0];
  }
  const ResizeMethod method = infer_method(context, image, false);
  return Spec::tensor(output_dtype(method, image, false),
                      with_image_size(image.shape, sides[0], sides[1]));
}

void with_pad_row(const RowCall& call) {
  constexpr const char* kOp = "resize_with_pad";
  const Resizing how{.method = method_of(call), .antialias = call.attrs["antialias"].as_bool()};
  const Tensor image = resizable(call.inputs[0], how);
  const Images images = images_in(kOp, image);
  const int64_t height = integer_at(call.inputs[1]), width = integer_at(call.inputs[2]);
  check_output_size(kOp, height, width);
  check_output_size(kOp, images.size.height, images.size.width);
  // In float, as TensorFlow does: it decides which sizes come out a pixel short.
  const float ratio = std::max(static_cast<float>(images.size.width) / static_cast<float>(width),
                               static_cast<float>(images.size.height) / static_cast<float>(height));
  const auto shrink = [ratio](int64_t side) { return static_cast<float>(side) / ratio; };
  const auto whole = [](float side, int64_t most) {
    return std::clamp<int64_t>(static_cast<int64_t>(side), 1, most);
  };
  const float exact_rows = shrink(images.size.height), exact_columns = shrink(images.size.width);
  const int64_t rows = whole(exact_rows, height), columns = whole(exact_columns, width);
  const auto begin = [](int64_t side, float exact, int64_t size) {
    const auto at = static_cast<int64_t>((static_cast<float>(side) - exact) / 2);
    return std::clamp<int64_t>(at, 0, side - size);
  };
  const int64_t top = begin(height, exact_rows, rows), left = begin(width, exact_columns, columns);
  const int64_t pixel = images.size.channels * dtype_size(call.outputs[0].dtype());
  const int64_t from_bytes = images.size.elements() * dtype_size(image.dtype());
  std::byte* to = call.outputs[0].allocate(images.dims(height, width));
  std::memset(to, 0, static_cast<size_t>(images.count * height * width * pixel));
  ChargedVector<std::byte> small(static_cast<size_t>(rows * columns * pixel));
  to += (top * width + left) * pixel;
  for (int64_t i = 0; i < images.count; ++i, to += height * width * pixel) {
    resize_one(image, image.data() + i * from_bytes, images.size, rows, columns, how, small.data());
    for (int64_t y = 0; y < rows; ++y) {
      std::memcpy(to + y * width * pixel, small.data() + y * columns * pixel,
                  static_cast<size_t>(columns * pixel));
    }
  }
}

}  // namespace

void add_resize_ops(OpRegistry* registry) {
  const Param image = required("image", Param::Kind::tensor);
  const Param method = optional("method", Param::Kind::text, Attr::text("bilinear"));
  const Param antialias = option("antialias", Param::Kind::boolean, Attr::boolean(false));
  registry->add(image_op(
      "resize",
      {image, required("size", Param::Kind::tensor), method, antialias,
       option("preserve_aspect_ratio", Param::Kind::boolean, Attr::boolean(false)),
       option("keep_dtype", Param::Kind::boolean, Attr::boolean(false))},
      "The image at another size [height, width] by nearest (keeps the dtype), bilinear, bicubic, "
      "area, lanczos3, lanczos5, gaussian or mitchellcubic (give float32; with keep_dtype=true the "
      "image's dtype, integers rounded).",
      infer_resize, resize_row, 1.2e5));
  registry->add(image_op(
      "resize_legacy",
      {image, required("size", Param::Kind::tensor), method,
       option("align_corners", Param::Kind::boolean, Attr::boolean(false)),
       option("half_pixel_centers", Param::Kind::boolean, Attr::boolean(false))},
      "resize as TensorFlow 1 did it: the source place is i * in / out; bicubic with a = -0.75.",
      infer_legacy, legacy_row, 1.2e5));
  registry->add(image_op("resize_with_pad",
                         {image, required("target_height", Param::Kind::tensor),
                          required("target_width", Param::Kind::tensor), method, antialias},
                         "The image as large as fits, in the middle, with zeros around it.",
                         infer_with_pad, with_pad_row, 1.5e5));
}

}  // namespace penstock
