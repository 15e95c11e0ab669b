#include <png.h>

#include <csetjmp>
#include <string>

#include "base/error.h"
#include "functions/kernels/image/image_file.h"

namespace penstock {
namespace {

struct Writer {
  std::string out;      // bounded: its callers count it (image_file.h)
  std::string message;  // bounded: what libpng says
  png_structp png = nullptr;
  png_infop info = nullptr;
  ~Writer() { png_destroy_write_struct(&png, &info); }
};

void report(png_structp png, png_const_charp what) {
  static_cast<Writer*>(png_get_error_ptr(png))->message = what;
  png_longjmp(png, 1);
}

void append(png_structp png, png_bytep from, size_t count) {
  static_cast<Writer*>(png_get_io_ptr(png))->out.append(reinterpret_cast<char*>(from), count);
}

// Runs under setjmp: owns nothing.
void write(Writer& writer, const uint8_t* pixels, ImageSize size, bool wide, int level) {
  constexpr int kColours[] = {0, PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB,
                              PNG_COLOR_TYPE_RGB_ALPHA};
  png_structp png = writer.png;
  png_set_write_fn(png, &writer, append, nullptr);
  png_set_compression_level(png, level);
  png_set_IHDR(png, writer.info, static_cast<png_uint_32>(size.width),
               static_cast<png_uint_32>(size.height), wide ? 16 : 8, kColours[size.channels],
               PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_write_info(png, writer.info);
  if (wide) png_set_swap(png);
  const int64_t stride = size.width * size.channels * (wide ? 2 : 1);
  for (int64_t y = 0; y < size.height; ++y) png_write_row(png, pixels + y * stride);
  png_write_end(png, nullptr);
}

}  // namespace

std::string encode_png(const void* pixels, ImageSize size, bool wide, int level) {
  const auto refuse = [](const std::string& what) {
    throw Error(Code::invalid_argument, "encode_png: " + what);
  };
  if (size.height < 1 || size.width < 1 || size.height > PNG_UINT_31_MAX ||
      size.width > PNG_UINT_31_MAX) {
    refuse("image size out of range: " + std::to_string(size.height) + "x" +
           std::to_string(size.width));
  }
  if (size.channels < 1 || size.channels > 4) {
    refuse("channels must be 1 to 4: " + std::to_string(size.channels));
  }
  Writer writer;
  writer.png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &writer, report,
                                       [](png_structp, png_const_charp) {});
  writer.info = png_create_info_struct(writer.png);
  if (setjmp(png_jmpbuf(writer.png)) != 0) {
    throw Error(Code::internal, "encode_png: " + writer.message);
  }
  write(writer, static_cast<const uint8_t*>(pixels), size, wide, level);
  return std::move(writer.out);
}

}  // namespace penstock
