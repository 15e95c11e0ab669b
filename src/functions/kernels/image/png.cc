// PNG: plain files by our own reader, the rest and damaged ones with libpng. What it only warns
// about stays without an error: none of it costs pixels.
#include <png.h>

#include <csetjmp>
#include <cstring>
#include <string>
#include <vector>

#include "base/error.h"
#include "data/charged.h"
#include "functions/kernels/image/image_file.h"
#include "functions/kernels/image/png_plain.h"

namespace penstock {
namespace {

struct Reader {
  const char* who;
  std::string_view rest;
  Code code = Code::data_loss;
  std::string message;  // bounded: what libpng says
  png_structp png = nullptr;
  png_infop info = nullptr;
  ChargedVector<png_bytep> rows;

  ~Reader() { png_destroy_read_struct(&png, &info, nullptr); }
  // libpng reports by longjmp: `step` must own nothing.
  template <class Step>
  void run(Step step) {
    if (setjmp(png_jmpbuf(png)) != 0) throw Error(code, std::string(who) + ": " + message);
    step();
  }
};

void read_bytes(png_structp png, png_bytep to, size_t count) {
  auto& reader = *static_cast<Reader*>(png_get_io_ptr(png));
  if (reader.rest.size() < count) png_error(png, "PNG file is cut");
  std::memcpy(to, reader.rest.data(), count);
  reader.rest.remove_prefix(count);
}

void report(png_structp png, png_const_charp what) {
  static_cast<Reader*>(png_get_error_ptr(png))->message = what;
  png_longjmp(png, 1);
}

int stored_channels(png_structp png, png_infop info) {
  if (png_get_color_type(png, info) != PNG_COLOR_TYPE_PALETTE) return png_get_channels(png, info);
  return png_get_valid(png, info, PNG_INFO_tRNS) != 0 ? 4 : 3;
}

// Red, green and blue weigh 0.299, 0.587 and 0.114 in a grey made of them.
void set_transforms(png_structp png, png_infop info, int channels, bool wide) {
  const int colour = png_get_color_type(png, info), depth = png_get_bit_depth(png, info);
  const bool transparent = png_get_valid(png, info, PNG_INFO_tRNS) != 0;
  const bool alpha = (colour & PNG_COLOR_MASK_ALPHA) != 0;
  const bool grey = (colour & PNG_COLOR_MASK_COLOR) == 0;
  if (colour == PNG_COLOR_TYPE_PALETTE) png_set_palette_to_rgb(png);
  if (grey && depth < 8) png_set_expand_gray_1_2_4_to_8(png);
  if (channels % 2 == 0) {
    if (transparent) {
      png_set_tRNS_to_alpha(png);
    } else if (!alpha) {
      png_set_add_alpha(png, depth == 16 && wide ? 0xffff : 0xff, PNG_FILLER_AFTER);
    }
  } else if (alpha || transparent) {
    png_set_strip_alpha(png);
  }
  if (depth == 16 && !wide) png_set_strip_16(png);
  if (depth == 16 && wide) png_set_swap(png);
  png_set_packing(png);
  png_set_interlace_handling(png);
  if (channels < 3 && !grey) png_set_rgb_to_gray_fixed(png, 1, 29900, 58700);
  if (channels >= 3 && grey) png_set_gray_to_rgb(png);
  png_read_update_info(png, info);
}

// From the last value on: bytes turn into words in place.
void widen(uint8_t* values, int64_t count) {
  for (int64_t i = count - 1; i >= 0; --i) {
    const auto wide = static_cast<uint16_t>(values[i] * 257);
    std::memcpy(values + 2 * i, &wide, 2);
  }
}

void decode_with_libpng(std::string_view file, const ImageDecoding& options, PixelSink allocate) {
  Reader reader{options.who, file, Code::data_loss, "", nullptr, nullptr, {}};
  reader.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &reader, report,
                                      [](png_structp, png_const_charp) {});
  reader.info = png_create_info_struct(reader.png);
  png_set_read_fn(reader.png, &reader, read_bytes);
  png_set_user_limits(reader.png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
  reader.run([&reader] { png_read_info(reader.png, reader.info); });
  const int stored = stored_channels(reader.png, reader.info);
  const int channels = options.channels != 0 ? options.channels : stored;
  const bool words = options.wide && png_get_bit_depth(reader.png, reader.info) == 16;
  const ImageSize size{png_get_image_height(reader.png, reader.info),
                       png_get_image_width(reader.png, reader.info), channels};
  check_claimed_size(options, size, file.size());
  uint8_t* pixels = allocate(size);
  if (pixels == nullptr) return;
  reader.rows.resize(static_cast<size_t>(size.height));
  const int64_t stride = size.width * channels * (words ? 2 : 1);
  for (size_t y = 0; y < reader.rows.size(); ++y) {
    reader.rows[y] = pixels + static_cast<int64_t>(y) * stride;
  }
  reader.run([&reader, channels, &options] {
    set_transforms(reader.png, reader.info, channels, options.wide);
    png_read_image(reader.png, reader.rows.data());
    png_read_end(reader.png, nullptr);
  });
  if (options.wide && !words) widen(pixels, size.elements());
}

}  // namespace

void decode_png(std::string_view file, const ImageDecoding& options, PixelSink allocate) {
  if (image_format(file) != ImageFormat::png) refuse_format(options.who, "PNG", file);
  PlainPng plain;
  if (!read_plain_png(file, &plain) ||
      (options.channels != 0 && options.channels != plain.size.channels)) {
    return decode_with_libpng(file, options, allocate);
  }
  check_claimed_size(options, plain.size, file.size());
  uint8_t* pixels = allocate(plain.size);
  if (pixels == nullptr) return;
  // Damaged data is read again, to say what is wrong with it.
  if (!decode_plain_png(plain, options.wide && plain.depth == 16, pixels))
    return decode_with_libpng(file, options, [pixels](ImageSize) { return pixels; });
  if (options.wide && plain.depth == 8) widen(pixels, plain.size.elements());
}

}  // namespace penstock
