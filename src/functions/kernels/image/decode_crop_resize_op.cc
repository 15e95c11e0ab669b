// decode_crop_resize: a window of a JPEG file at another size, in one step.
//
// As it stands it gives the pixels of decode_and_crop_jpeg and resize. With scaled=true a window
// that is at least twice the size asked for may be decoded at 1/2, 1/4 or 1/8 by a smaller inverse
// DCT, which is about the mean over as many pixels: some levels off the exact way, and often nearer
// to what antialias gives. So it is never chosen by a rewrite. jpeg_scan.h has all pixels of a
// usual file in two thirds of the time that libjpeg takes for half of them: of those, the means are
// taken.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "data/charged.h"
#include "functions/kernels/image/image_ops.h"
#include "functions/kernels/image/pixels.h"
#include "functions/kernels/image/resize.h"

namespace penstock {
namespace {

constexpr const char* kOp = "decode_crop_resize";

struct Cut {
  int64_t y, x, height, width;
};

Spec infer(const InferContext& context) {
  check_contents(context, 0);
  check_integers(context, 1, 4, "y, x, height, width");
  check_integers(context, 2, 2, "height, width");
  const int64_t channels = context.attrs["channels"].as_int();
  if (channels != 0 && channels != 1 && channels != 3) {
    throw TypeError{-1, "channels",
                    "must be 0 (as stored), 1 or 3, is " + std::to_string(channels)};
  }
  const std::string method = context.attrs["method"].as_string();
  if (const auto known = parse_resize_method(method); !known || *known == ResizeMethod::nearest) {
    throw TypeError{-1, "method",
                    "is \"" + method + "\", expected bilinear, bicubic, area or lanczos3"};
  }
  std::vector<int64_t> size = context.known_ints(2);
  if (size.size() != 2) size = {Shape::kUnknown, Shape::kUnknown};
  for (const int64_t side : size) {
    if (side == 0 || side < Shape::kUnknown)
      context.fail(2, "must be positive, holds " + std::to_string(side));
  }
  return Spec::tensor(DType::uint8, {size[0], size[1], channels == 0 ? Shape::kUnknown : channels});
}

bool lies_in(const Cut& window, const ImageSize& whole) {
  return window.y >= 0 && window.x >= 0 && window.height > 0 && window.width > 0 &&
         window.height <= whole.height - window.y && window.width <= whole.width - window.x;
}

// How much smaller the window may be decoded. What is wrong with the file or the window is left to
// the decoding.
int ratio_for(std::string_view file, const Cut& window, int64_t height, int64_t width) {
  if (image_format(file) != ImageFormat::jpeg) return 1;
  try {
    if (!lies_in(window, jpeg_shape(file))) return 1;
  } catch (const Error&) {
    return 1;
  }
  for (const int ratio : {8, 4, 2}) {
    if (window.height >= ratio * height && window.width >= ratio * width) return ratio;
  }
  return 1;
}

// The smaller picture's pixels that the window touches.
Cut touched(const Cut& window, int64_t ratio) {
  const int64_t y = window.y / ratio, x = window.x / ratio;
  return {y, x, (window.y + window.height + ratio - 1) / ratio - y,
          (window.x + window.width + ratio - 1) / ratio - x};
}

// Sinks refer to what they are made of.
auto into(ChargedVector<uint8_t>* pixels, ImageSize* size) {
  return [=](ImageSize made) {
    *size = made;
    pixels->resize(static_cast<size_t>(made.elements()));
    return pixels->data();
  };
}

// Means of ratio x ratio pixels, of fewer at the right and lower border.
void means_of_blocks(const uint8_t* pixels, ImageSize size, int ratio, uint8_t* to) {
  const int64_t channels = size.channels, stride = size.width * channels;
  ChargedVector<uint16_t> sums(static_cast<size_t>(stride));  // of some lines: at most 8 * 255
  for (int64_t y = 0; y < size.height; y += ratio) {
    const int64_t lines = std::min<int64_t>(ratio, size.height - y);
    std::ranges::fill(sums, uint16_t{0});
    for (int64_t i = 0; i < lines; ++i) {
      const uint8_t* line = pixels + (y + i) * stride;
      for (size_t k = 0; k < sums.size(); ++k) sums[k] = static_cast<uint16_t>(sums[k] + line[k]);
    }
    const int64_t complete = lines == ratio ? size.width / ratio : 0;
    const auto means = [&]<int kRatio>(std::integral_constant<int, kRatio>) {
      for (int64_t x = 0; x < complete; ++x) {
        const uint16_t* from = sums.data() + x * kRatio * channels;
        for (int64_t c = 0; c < channels; ++c) {
          uint32_t sum = kRatio * kRatio / 2;
          for (int i = 0; i < kRatio; ++i) sum += from[i * channels + c];
          *to++ = static_cast<uint8_t>(sum / (kRatio * kRatio));
        }
      }
    };
    if (ratio == 2) means(std::integral_constant<int, 2>());
    if (ratio == 4) means(std::integral_constant<int, 4>());
    if (ratio == 8) means(std::integral_constant<int, 8>());
    for (int64_t x = complete * ratio; x < size.width; x += ratio) {
      const int64_t columns = std::min<int64_t>(ratio, size.width - x);
      const auto count = static_cast<uint32_t>(lines * columns);
      for (int64_t c = 0; c < channels; ++c) {
        uint32_t sum = count / 2;
        for (int64_t i = 0; i < columns; ++i)
          sum += sums[static_cast<size_t>((x + i) * channels + c)];
        *to++ = static_cast<uint8_t>(sum / count);
      }
    }
  }
}

// A window of the picture `ratio` times smaller, as means of the pixels of a file that takes no
// libjpeg. False for other files.
bool decode_means(std::string_view file, const JpegDecoding& options, const Cut& small, int ratio,
                  ChargedVector<uint8_t>* pixels, ImageSize* size) {
  const ImageSize whole = jpeg_shape(file);
  const Cut window{small.y * ratio, small.x * ratio,
                   std::min(small.height * ratio, whole.height - small.y * ratio),
                   std::min(small.width * ratio, whole.width - small.x * ratio)};
  ChargedVector<uint8_t> full;
  const auto make = into(&full, size);
  if (!thread_jpeg_decoder().decode_usual_window(file, window.y, window.x, window.height,
                                                 window.width, options, make)) {
    return false;
  }
  const ImageSize read = *size;
  *size = {small.height, small.width, size->channels};
  pixels->resize(static_cast<size_t>(size->elements()));
  means_of_blocks(full.data(), read, ratio, pixels->data());
  return true;
}

// Decodes a window of any format; the pixels' channels come with their size.
ImageSize decode(std::string_view file, const JpegDecoding& options, const Cut& window,
                 ChargedVector<uint8_t>* pixels) {
  ImageSize size;
  const auto make = into(pixels, &size);
  if (image_format(file) == ImageFormat::jpeg) {
    thread_jpeg_decoder().decode_window(file, window.y, window.x, window.height, window.width,
                                        options, make);
    return size;
  }
  int64_t frames = 1;
  decode_image_file(file,
                    {.who = kOp,
                     .channels = options.channels,
                     .max_pixels = options.max_pixels,
                     .one_picture = true},
                    true, &frames, make);
  const ImageSize part{window.height, window.width, size.channels};
  ChargedVector<uint8_t> cut(static_cast<size_t>(std::max<int64_t>(0, part.elements())));
  crop(pixels->data(), size, 1, window.y, window.x, window.height, window.width, cut.data());
  *pixels = std::move(cut);
  return part;
}

// The two neighbours of a place and how much of the second.
struct Neighbours {
  int64_t first, second;
  float share;
};

// Places of the window's pixel centres in the smaller picture, of which `count` lines from `begin`
// on were decoded.
ChargedVector<Neighbours> places(int64_t from, int64_t length, int64_t out, int64_t ratio,
                                 int64_t begin, int64_t count) {
  ChargedVector<Neighbours> found;
  const double step = static_cast<double>(length) / static_cast<double>(out);
  for (int64_t i = 0; i < out; ++i) {
    const double whole = static_cast<double>(from) + (static_cast<double>(i) + 0.5) * step;
    const double at = whole / static_cast<double>(ratio) - 0.5 - static_cast<double>(begin);
    const auto first = static_cast<int64_t>(std::floor(at));
    found.push_back({std::clamp<int64_t>(first, 0, count - 1),
                     std::clamp<int64_t>(first + 1, 0, count - 1),
                     static_cast<float>(at - static_cast<double>(first))});
  }
  return found;
}

// Bilinear at those places.
void sample(const ChargedVector<uint8_t>& pixels, ImageSize size,
            const ChargedVector<Neighbours>& rows, const ChargedVector<Neighbours>& columns,
            uint8_t* to) {
  const int64_t channels = size.channels, stride = size.width * channels;
  for (const Neighbours& row : rows) {
    const uint8_t* above = pixels.data() + row.first * stride;
    const uint8_t* below = pixels.data() + row.second * stride;
    for (const Neighbours& column : columns) {
      const int64_t left = column.first * channels, right = column.second * channels;
      for (int64_t c = 0; c < channels; ++c) {
        const auto mix = [&](const uint8_t* line) {
          const float a = line[left + c], b = line[right + c];
          return a + (b - a) * column.share;
        };
        const float high = mix(above), low = mix(below);
        const float value = high + (low - high) * row.share;
        *to++ = static_cast<uint8_t>(std::clamp(value + 0.5f, 0.0f, 255.0f));
      }
    }
  }
}

void row(const RowCall& call) {
  int64_t window_sides[4], size[2];
  read_integers(kOp, call.inputs[1], window_sides);
  read_integers(kOp, call.inputs[2], size);
  check_output_size(kOp, size[0], size[1]);
  const Cut window{window_sides[0], window_sides[1], window_sides[2], window_sides[3]};
  const std::string_view file = bytes_at(call.inputs[0]);
  JpegDecoding options{.channels = static_cast<int>(call.attrs["channels"].as_int()),
                       .max_pixels = call.attrs["max_pixels"].as_int(),
                       .who = kOp};
  const int ratio = call.attrs["scaled"].as_bool() ? ratio_for(file, window, size[0], size[1]) : 1;
  const Cut decoded = ratio == 1 ? window : touched(window, ratio);
  ChargedVector<uint8_t> pixels;
  ImageSize part;
  if (ratio == 1 || !decode_means(file, options, decoded, ratio, &pixels, &part)) {
    options.ratio = ratio;
    part = decode(file, options, decoded, &pixels);
  }
  auto* to = call.outputs[0].allocate_as<uint8_t>({size[0], size[1], part.channels});
  const Resizing how{.method = *parse_resize_method(call.attrs["method"].as_string()),
                     .antialias = call.attrs["antialias"].as_bool()};
  if (ratio > 1 && how.method == ResizeMethod::bilinear && !how.antialias) {
    return sample(pixels, part,
                  places(window.y, window.height, size[0], ratio, decoded.y, decoded.height),
                  places(window.x, window.width, size[1], ratio, decoded.x, decoded.width), to);
  }
  ChargedVector<float> floats(static_cast<size_t>(size[0] * size[1] * part.channels));
  resize_image(pixels.data(), part, size[0], size[1], how, floats.data());
  for (const float value : floats)
    *to++ = static_cast<uint8_t>(std::clamp(value + 0.5f, 0.0f, 255.0f));
}

}  // namespace

void add_decode_crop_resize_op(OpRegistry* registry) {
  registry->add(image_op(
      kOp,
      {required("contents", Param::Kind::tensor), required("crop_window", Param::Kind::tensor),
       required("size", Param::Kind::tensor),
       optional("channels", Param::Kind::integer, Attr::integer(3)),
       option("method", Param::Kind::text, Attr::text("bilinear")),
       option("antialias", Param::Kind::boolean, Attr::boolean(false)),
       option("scaled", Param::Kind::boolean, Attr::boolean(false)), max_pixels_option()},
      "The window [y, x, height, width] of a JPEG file (or of a PNG, GIF or WebP file) at the size "
      "[height, width], rounded to uint8; scaled: a large window may be decoded at 1/2, 1/4 or "
      "1/8, a few levels off but faster.",
      infer, row, 1e6));
}

}  // namespace penstock
