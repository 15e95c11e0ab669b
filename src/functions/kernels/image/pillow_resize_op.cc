// pillow_resize: what Pillow's Image.resize gives, bit for bit for uint8: always antialiased,
// weights in 22-bit fixed point, each pass rounded to 8 bits. As in Pillow 13 the horizontal pass
// comes first unless the height shrinks by more than twice as many pixels as the width.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>
#include <string>
#include <vector>

#include "data/charged.h"
#include "functions/kernels/image/image_ops.h"

namespace penstock {
namespace {

constexpr int kPrecision = 22;

struct Filter {
  const char* name;
  double support;
  double (*value)(double x);
};

double sinc(double x) {
  if (x == 0.0) return 1.0;
  x *= std::numbers::pi;
  return std::sin(x) / x;
}

double hamming(double x) {
  x = std::fabs(x);
  if (x >= 1.0) return 0.0;
  return x == 0.0 ? 1.0 : sinc(x) * (0.54 + 0.46 * std::cos(x * std::numbers::pi));
}

double bicubic(double x) {
  constexpr double a = -0.5;
  x = std::fabs(x);
  if (x < 1.0) return ((a + 2.0) * x - (a + 3.0)) * x * x + 1;
  return x < 2.0 ? (((x - 5) * x + 8) * x - 4) * a : 0.0;
}

constexpr Filter kFilters[] = {
    {"nearest", 0.0, nullptr},
    {"box", 0.5, [](double x) { return x > -0.5 && x <= 0.5 ? 1.0 : 0.0; }},
    {"bilinear", 1.0, [](double x) { return std::max(0.0, 1.0 - std::fabs(x)); }},
    {"hamming", 1.0, hamming},
    {"bicubic", 2.0, bicubic},
    {"lanczos", 3.0, [](double x) { return x >= -3.0 && x < 3.0 ? sinc(x) * sinc(x / 3) : 0.0; }},
};

const Filter* find_filter(std::string_view name) {
  for (const Filter& filter : kFilters) {
    if (filter.name == name) return &filter;
  }
  return nullptr;
}

// The part of an axis that is read, in source places.
struct Span {
  double from = 0, to = 0;
};

struct Weights {
  int64_t most = 0;
  ChargedVector<int64_t> starts, taps;
  ChargedVector<double> values;
  ChargedVector<int32_t> fixed;
};

Weights make_weights(const Filter& filter, int64_t in, int64_t out, Span span) {
  Weights weights;
  const double scale = (span.to - span.from) / static_cast<double>(out);
  const double widening = std::max(scale, 1.0);
  const double support = filter.support * widening;
  weights.most = 2 * static_cast<int64_t>(std::ceil(support)) + 1;
  weights.values.assign(static_cast<size_t>(out * weights.most), 0.0);
  for (int64_t i = 0; i < out; ++i) {
    const double centre = span.from + (static_cast<double>(i) + 0.5) * scale;
    // As Pillow rounds: towards zero after adding a half.
    const double from = centre - support + 0.5, to = centre + support + 0.5;
    const int64_t first = std::max<int64_t>(0, static_cast<int64_t>(from));
    const int64_t end = std::min(in, static_cast<int64_t>(to));
    double* values = weights.values.data() + i * weights.most;
    double total = 0;
    for (int64_t x = first; x < end; ++x) {
      values[x - first] = filter.value((static_cast<double>(x) - centre + 0.5) * (1.0 / widening));
      total += values[x - first];
    }
    for (int64_t tap = 0; tap < end - first && total != 0; ++tap) values[tap] /= total;
    weights.starts.push_back(first);
    weights.taps.push_back(end - first);
  }
  for (const double value : weights.values) {
    weights.fixed.push_back(
        static_cast<int32_t>((value < 0 ? -0.5 : 0.5) + value * (1 << kPrecision)));
  }
  return weights;
}

uint8_t weigh(const uint8_t* from, int64_t step, const Weights& weights, int64_t i) {
  int32_t sum = 1 << (kPrecision - 1);
  const int32_t* fixed = weights.fixed.data() + i * weights.most;
  const int64_t taps = weights.taps[static_cast<size_t>(i)];
  for (int64_t tap = 0; tap < taps; ++tap) sum += from[tap * step] * fixed[tap];
  return static_cast<uint8_t>(std::clamp(sum >> kPrecision, 0, 255));
}
float weigh(const float* from, int64_t step, const Weights& weights, int64_t i) {
  double sum = 0;
  const double* values = weights.values.data() + i * weights.most;
  const int64_t taps = weights.taps[static_cast<size_t>(i)];
  for (int64_t tap = 0; tap < taps; ++tap) {
    sum += static_cast<double>(from[tap * step]) * values[tap];
  }
  return static_cast<float>(sum);
}

template <typename T>
struct Picture {
  ImageSize size;
  ChargedVector<T> pixels;
};

// One pass: along columns of `step` = channels, or along rows of `step` = a whole row.
template <typename T>
Picture<T> resize_axis(const Picture<T>& from, bool along_rows, int64_t out, const Filter& filter,
                       Span span) {
  const ImageSize& size = from.size;
  const int64_t in = along_rows ? size.height : size.width;
  if (out == in && span.from == 0 && span.to == static_cast<double>(in)) return from;
  const Weights weights = make_weights(filter, in, out, span);
  const int64_t stride = size.width * size.channels;
  Picture<T> to{size, {}};
  (along_rows ? to.size.height : to.size.width) = out;
  to.pixels.resize(static_cast<size_t>(to.size.elements()));
  T* write = to.pixels.data();
  for (int64_t y = 0; y < to.size.height; ++y) {
    const int64_t row = along_rows ? weights.starts[static_cast<size_t>(y)] : y;
    for (int64_t x = 0; x < to.size.width; ++x) {
      const int64_t column = along_rows ? x : weights.starts[static_cast<size_t>(x)];
      const T* at = from.pixels.data() + row * stride + column * size.channels;
      for (int64_t c = 0; c < size.channels; ++c) {
        *write++ = along_rows ? weigh(at + c, stride, weights, y)
                              : weigh(at + c, size.channels, weights, x);
      }
    }
  }
  return to;
}

// Means of blocks of pixels, rounded as Pillow's reduce does; blocks at the border are smaller.
template <typename T>
Picture<T> reduce(const Picture<T>& from, int64_t block_height, int64_t block_width) {
  const ImageSize& size = from.size;
  Picture<T> to{{(size.height + block_height - 1) / block_height,
                 (size.width + block_width - 1) / block_width, size.channels},
                {}};
  for (int64_t y = 0; y < size.height; y += block_height) {
    for (int64_t x = 0; x < size.width; x += block_width) {
      const int64_t bottom = std::min(y + block_height, size.height);
      const int64_t right = std::min(x + block_width, size.width);
      const int64_t count = (bottom - y) * (right - x);
      for (int64_t c = 0; c < size.channels; ++c) {
        double sum = 0;
        for (int64_t i = y; i < bottom; ++i) {
          for (int64_t j = x; j < right; ++j) {
            sum += static_cast<double>(
                from.pixels[static_cast<size_t>((i * size.width + j) * size.channels + c)]);
          }
        }
        if constexpr (std::is_same_v<T, uint8_t>) {
          const uint64_t rounded = static_cast<uint64_t>(sum) + static_cast<uint64_t>(count / 2);
          const uint64_t multiplier = (uint64_t{1} << 24) / static_cast<uint64_t>(count);
          to.pixels.push_back(static_cast<uint8_t>((rounded * multiplier) >> 24));
        } else {
          to.pixels.push_back(static_cast<T>(sum * (1.0 / static_cast<double>(count))));
        }
      }
    }
  }
  return to;
}

struct Request {
  int64_t height = 0, width = 0;
  Span rows, columns;
  double reducing_gap = 0;  // 0: none
};

template <typename T>
Picture<T> cut(const Picture<T>& from, int64_t top, int64_t left, int64_t bottom, int64_t right) {
  const ImageSize& size = from.size;
  Picture<T> to{{bottom - top, right - left, size.channels}, {}};
  for (int64_t y = top; y < bottom; ++y) {
    const T* row = from.pixels.data() + (y * size.width + left) * size.channels;
    to.pixels.insert(to.pixels.end(), row, row + (right - left) * size.channels);
  }
  return to;
}

// Shrinks by whole factors first, down to reducing_gap times the output's size.
template <typename T>
void reduce_first(const Filter& filter, Picture<T>* picture, Request* request) {
  const auto factor = [&](Span span, int64_t out) {
    const double ratio = (span.to - span.from) / static_cast<double>(out) / request->reducing_gap;
    return std::max<int64_t>(1, static_cast<int64_t>(ratio));
  };
  const int64_t fy = factor(request->rows, request->height);
  const int64_t fx = factor(request->columns, request->width);
  if (fy <= 1 && fx <= 1) return;
  const auto margin = [&](Span span, int64_t out) {
    return (filter.support - 0.5) * (span.to - span.from) / static_cast<double>(out);
  };
  const auto low = [](double place) { return std::max<int64_t>(0, static_cast<int64_t>(place)); };
  const auto high = [](double place, int64_t in) {
    return std::min(in, static_cast<int64_t>(std::ceil(place)));
  };
  const double my = margin(request->rows, request->height);
  const double mx = margin(request->columns, request->width);
  const int64_t top = low(request->rows.from - my), left = low(request->columns.from - mx);
  *picture = reduce(cut(*picture, top, left, high(request->rows.to + my, picture->size.height),
                        high(request->columns.to + mx, picture->size.width)),
                    fy, fx);
  const auto move = [](Span* span, int64_t origin, int64_t by) {
    span->from = (span->from - static_cast<double>(origin)) / static_cast<double>(by);
    span->to = (span->to - static_cast<double>(origin)) / static_cast<double>(by);
  };
  move(&request->rows, top, fy);
  move(&request->columns, left, fx);
}

template <typename T>
void resize_picture(const Filter& filter, Picture<T> picture, Request request, T* out) {
  const ImageSize& size = picture.size;
  if (filter.value == nullptr) {
    // As Pillow: step by step, with the rounding of each sum.
    const auto places = [](Span span, int64_t count, int64_t end) {
      const double scale = (span.to - span.from) / static_cast<double>(count);
      ChargedVector<int64_t> found;
      double at = span.from + scale * 0.5;
      for (int64_t i = 0; i < count; ++i, at += scale) {
        found.push_back(std::min(static_cast<int64_t>(at), end - 1));
      }
      return found;
    };
    const ChargedVector<int64_t> columns = places(request.columns, request.width, size.width);
    for (const int64_t row : places(request.rows, request.height, size.height)) {
      for (const int64_t column : columns) {
        std::copy_n(picture.pixels.data() + (row * size.width + column) * size.channels,
                    size.channels, out);
        out += size.channels;
      }
    }
    return;
  }
  if (request.reducing_gap > 0) reduce_first(filter, &picture, &request);
  const int64_t lower = picture.size.height - request.height;
  const bool rows_first = lower > 0 && lower > 2 * (picture.size.width - request.width);
  for (const bool rows : {rows_first, !rows_first}) {
    picture = resize_axis(picture, rows, rows ? request.height : request.width, filter,
                          rows ? request.rows : request.columns);
  }
  std::ranges::copy(picture.pixels, out);
}

// Colours times alpha, the last of 2 or 4 channels, as Pillow weighs them.
void multiply_alpha(int64_t channels, std::span<uint8_t> pixels) {
  const auto n = static_cast<size_t>(channels);
  for (size_t at = 0; at < pixels.size(); at += n) {
    const uint32_t alpha = pixels[at + n - 1];
    for (size_t c = 0; c + 1 < n; ++c) {
      const uint32_t product = pixels[at + c] * alpha + 128;
      pixels[at + c] = static_cast<uint8_t>(((product >> 8) + product) >> 8);
    }
  }
}

void divide_alpha(int64_t channels, std::span<uint8_t> pixels) {
  const auto n = static_cast<size_t>(channels);
  for (size_t at = 0; at < pixels.size(); at += n) {
    const uint32_t alpha = pixels[at + n - 1];
    if (alpha == 0 || alpha == 255) continue;
    for (size_t c = 0; c + 1 < n; ++c)
      pixels[at + c] = static_cast<uint8_t>(std::min(255u, 255 * pixels[at + c] / alpha));
  }
}

bool changes_nothing(const Request& request, const ImageSize& size) {
  const auto height = static_cast<double>(size.height), width = static_cast<double>(size.width);
  return request.height == size.height && request.width == size.width && request.rows.from == 0 &&
         request.rows.to == height && request.columns.from == 0 && request.columns.to == width;
}

Spec infer(const InferContext& context) {
  const LeafSpec& image = infer_image(context, 0);
  check_integers(context, 1, 2, "height, width");
  if (image.dtype != DType::uint8 && image.dtype != DType::float32) {
    context.fail(0, "is " + image.text() + ", expected uint8 or float32");
  }
  if (image.shape.has_rank() && image.shape.rank() != 3) {
    context.fail(0, "is " + image.text() + ", expected one image");
  }
  const std::string method = context.attrs["method"].as_string();
  if (find_filter(method) == nullptr) {
    throw TypeError{-1, "method",
                    "is \"" + method +
                        "\", expected nearest, box, bilinear, hamming, bicubic or "
                        "lanczos"};
  }
  std::vector<int64_t> size = context.known_ints(1);
  if (size.size() != 2) size = {Shape::kUnknown, Shape::kUnknown};
  return Spec::tensor(image.dtype, with_image_size(image.shape, size[0], size[1]));
}

void row(const RowCall& call) {
  constexpr const char* kOp = "pillow_resize";
  const Tensor& image = call.inputs[0];
  const Images images = images_in(kOp, image);
  int64_t size[2];
  read_integers(kOp, call.inputs[1], size);
  check_output_size(kOp, size[0], size[1]);
  check_output_size(kOp, images.size.height, images.size.width);
  const double height = static_cast<double>(images.size.height);
  const double width = static_cast<double>(images.size.width);
  Request request{size[0], size[1], {0, height}, {0, width}, 0};
  if (const Attr& box = call.attrs["box"]; !box.is_none()) {
    ChargedVector<double> sides;
    for (const Attr& item : box.items()) sides.push_back(item.as_float());
    for (int64_t i = 0; box.is_tensor() && i < box.tensor().entries_count(); ++i) {
      sides.push_back(number_at(box.tensor(), i));
    }
    const bool inside = sides.size() == 4 && sides[0] >= 0 && sides[1] >= 0 && sides[2] <= width &&
                        sides[3] <= height && sides[0] < sides[2] && sides[1] < sides[3];
    if (!inside) {
      throw Error(Code::invalid_argument,
                  "pillow_resize: box must be x0, y0, x1, y1 inside the image");
    }
    request.columns = {sides[0], sides[2]};
    request.rows = {sides[1], sides[3]};
  }
  if (const Attr& gap = call.attrs["reducing_gap"]; !gap.is_none()) {
    request.reducing_gap = gap.as_float();
  }
  const Filter& filter = *find_filter(call.attrs["method"].as_string());
  visit_dtype(image.dtype(), [&]<typename T>(TypeTag<T>) {
    if constexpr (std::is_same_v<T, uint8_t> || std::is_same_v<T, float>) {
      const int64_t channels = images.size.channels;
      const T* from = image.entries<T>();
      Picture<T> picture{images.size, ChargedVector<T>(from, from + image.entries_count())};
      T* out = call.outputs[0].allocate_as<T>({size[0], size[1], channels});
      if constexpr (std::is_same_v<T, uint8_t>) {
        const bool alpha = (channels == 2 || channels == 4) && filter.value != nullptr &&
                           !changes_nothing(request, images.size);
        if (alpha) multiply_alpha(channels, picture.pixels);
        resize_picture(filter, std::move(picture), request, out);
        if (alpha) divide_alpha(channels, {out, static_cast<size_t>(size[0] * size[1] * channels)});
      } else {
        resize_picture(filter, std::move(picture), request, out);
      }
    }
  });
}

}  // namespace

void add_pillow_resize_op(OpRegistry* registry) {
  registry->add(image_op(
      "pillow_resize",
      {required("image", Param::Kind::tensor), required("size", Param::Kind::tensor),
       optional("method", Param::Kind::text, Attr::text("bicubic")),
       option("box", Param::Kind::any, {}), option("reducing_gap", Param::Kind::any, {})},
      "The image at another size as Pillow gives it; box: x0, y0, x1, y1. Colours of uint8 with 2 "
      "or 4 channels are weighed by the last of them, alpha.",
      infer, row, 1e6));
}

}  // namespace penstock
