// affine, rotate, shear_x, shear_y, translate_x and translate_y, as Pillow's transform does them:
// the centre of output pixel (x, y) is (x + 0.5, y + 0.5), and the matrix says where it lies in the
// source.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <type_traits>

#include "functions/kernels/image/image_ops.h"

namespace penstock {
namespace {

// x in the source = a x + b y + c, y = d x + e y + f.
struct Matrix {
  double a = 1, b = 0, c = 0, d = 0, e = 1, f = 0;
};

template <typename T>
struct Source {
  const T* pixels;
  ImageSize size;
  T fill;

  const T* pixel(int64_t y, int64_t x) const {
    y = std::clamp<int64_t>(y, 0, size.height - 1);
    x = std::clamp<int64_t>(x, 0, size.width - 1);
    return pixels + (y * size.width + x) * size.channels;
  }
};

template <typename T>
T narrow(double value) {
  if constexpr (std::is_integral_v<T>) value = std::floor(value + 0.5);
  return static_cast<T>(value);
}

template <typename T>
void sample(const Source<T>& source, double x, double y, bool bilinear, T* to) {
  const int64_t channels = source.size.channels;
  const bool inside = x >= 0 && y >= 0 && x < static_cast<double>(source.size.width) &&
                      y < static_cast<double>(source.size.height);
  if (!inside) {
    std::fill_n(to, channels, source.fill);
    return;
  }
  if (!bilinear) {
    std::copy_n(source.pixel(static_cast<int64_t>(y), static_cast<int64_t>(x)), channels, to);
    return;
  }
  const double left = std::floor(x - 0.5), top = std::floor(y - 0.5);
  const double over = x - 0.5 - left, down = y - 0.5 - top;
  const auto column = static_cast<int64_t>(left), row = static_cast<int64_t>(top);
  const T *p = source.pixel(row, column), *q = source.pixel(row, column + 1),
          *r = source.pixel(row + 1, column), *s = source.pixel(row + 1, column + 1);
  for (int64_t c = 0; c < channels; ++c) {
    const auto a = static_cast<double>(p[c]), b = static_cast<double>(r[c]);
    const double upper = a + (static_cast<double>(q[c]) - a) * over;
    const double lower = b + (static_cast<double>(s[c]) - b) * over;
    to[c] = narrow<T>(upper + (lower - upper) * down);
  }
}

void transform(const char* op, const RowCall& call, const Matrix& m) {
  const Tensor& image = call.inputs[0];
  const Images images = images_in(op, image);
  const ImageSize& size = images.size;
  const bool bilinear = call.attrs["interpolation"].as_string() == "bilinear";
  const double fill = call.attrs["fill"].as_float();
  std::byte* out = call.outputs[0].allocate(image.dims());
  if (size.elements() == 0) return;
  visit_dtype(image.dtype(), [&]<typename T>(TypeTag<T>) {
    if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) {
      auto* to = reinterpret_cast<T*>(out);
      for (int64_t n = 0; n < images.count; ++n) {
        const Source<T> source{image.entries<T>() + n * size.elements(), size,
                               static_cast<T>(fill)};
        for (int64_t y = 0; y < size.height; ++y) {
          for (int64_t x = 0; x < size.width; ++x, to += size.channels) {
            const double h = static_cast<double>(x) + 0.5, v = static_cast<double>(y) + 0.5;
            sample(source, m.a * h + m.b * v + m.c, m.d * h + m.e * v + m.f, bilinear, to);
          }
        }
      }
    }
  });
}

double amount(const char* op, const RowCall& call) {
  const double value = number_at(call.inputs[1]);
  if (std::isfinite(value)) return value;
  throw Error(Code::invalid_argument, std::string(op) + ": the amount is not finite");
}

void affine_row(const RowCall& call) {
  const Tensor& given = call.inputs[1];
  if (given.entries_count() != 6) {
    throw Error(Code::invalid_argument,
                "affine: expected a matrix of 6 numbers, got shape " + given.dims().text());
  }
  double m[6];
  for (int i = 0; i < 6; ++i) {
    m[i] = number_at(given, i);
    if (!std::isfinite(m[i])) {
      throw Error(Code::invalid_argument, "affine: the matrix is not finite");
    }
  }
  transform("affine", call, {m[0], m[1], m[2], m[3], m[4], m[5]});
}

void rotate_row(const RowCall& call) {
  const ImageSize size = images_in("rotate", call.inputs[0]).size;
  const double angle = amount("rotate", call) * std::numbers::pi / 180;
  const double cosine = std::cos(angle), sine = std::sin(angle);
  const double x = static_cast<double>(size.width) / 2, y = static_cast<double>(size.height) / 2;
  transform("rotate", call,
            {cosine, -sine, x - cosine * x + sine * y, sine, cosine, y - sine * x - cosine * y});
}

void shear_x_row(const RowCall& call) {
  transform("shear_x", call, {.b = amount("shear_x", call)});
}
void shear_y_row(const RowCall& call) {
  transform("shear_y", call, {.d = amount("shear_y", call)});
}
void translate_x_row(const RowCall& call) {
  transform("translate_x", call, {.c = amount("translate_x", call)});
}
void translate_y_row(const RowCall& call) {
  transform("translate_y", call, {.f = amount("translate_y", call)});
}

Spec infer(const InferContext& context) {
  const LeafSpec& image = infer_image(context, 0);
  const bool half = image.dtype == DType::float16 || image.dtype == DType::bfloat16;
  if (!is_number(image.dtype) || half) {
    context.fail(0, "is " + image.text() + ", expected integers, float32 or float64");
  }
  if (!is_number(context.tensor(1).dtype)) context.fail(1, "must be numbers");
  const std::string method = context.attrs["interpolation"].as_string();
  if (method != "nearest" && method != "bilinear") {
    throw TypeError{-1, "interpolation",
                    "is \"" + method + "\", expected \"nearest\" or \"bilinear\""};
  }
  return Spec::of(image);
}

Spec infer_amount(const InferContext& context) {
  check_number(context, 1);
  return infer(context);
}

}  // namespace

void add_affine_ops(OpRegistry* registry) {
  const auto add = [registry](const char* name, const char* argument, const char* doc,
                              Spec (*spec)(const InferContext&), RowKernel row) {
    registry->add(
        image_op(name,
                 {required("image", Param::Kind::tensor), required(argument, Param::Kind::tensor),
                  option("interpolation", Param::Kind::text, Attr::text("nearest")),
                  option("fill", Param::Kind::floating, Attr::floating(0))},
                 doc, spec, row, 1e6));
  };
  add("affine", "matrix",
      "Output pixel (x, y) is source pixel (a x + b y + c, d x + e y + f), matrix [a, b, c, d, e, "
      "f]; outside: fill.",
      infer, affine_row);
  add("rotate", "angle", "The image turned counter-clockwise around its centre by degrees.",
      infer_amount, rotate_row);
  add("shear_x", "level",
      "Output pixel (x, y) is the source at (x + level y, y), both taken at pixel centres.",
      infer_amount, shear_x_row);
  add("shear_y", "level", "Output pixel (x, y) is source pixel (x, y + level x).", infer_amount,
      shear_y_row);
  add("translate_x", "pixels", "Output pixel (x, y) is source pixel (x + pixels, y).", infer_amount,
      translate_x_row);
  add("translate_y", "pixels", "Output pixel (x, y) is source pixel (x, y + pixels).", infer_amount,
      translate_y_row);
}

}  // namespace penstock
