#include "functions/kernels/image/image_file.h"

#include <algorithm>
#include <cstdio>

#include "functions/kernels/image/jpeg.h"

namespace penstock {

ImageFormat image_format(std::string_view file) {
  if (file.starts_with("\xff\xd8\xff")) return ImageFormat::jpeg;
  if (file.starts_with("\x89PNG")) return ImageFormat::png;
  if (file.starts_with("GIF8")) return ImageFormat::gif;
  if (file.starts_with("BM")) return ImageFormat::bmp;
  if (file.starts_with("RIFF") && file.size() >= 12 && file.substr(8, 4) == "WEBP") {
    return ImageFormat::webp;
  }
  return ImageFormat::unknown;
}

std::string_view image_format_name(ImageFormat format) {
  switch (format) {
    case ImageFormat::unknown: break;
    case ImageFormat::jpeg: return "JPEG";
    case ImageFormat::png: return "PNG";
    case ImageFormat::gif: return "GIF";
    case ImageFormat::bmp: return "BMP";
    case ImageFormat::webp: return "WebP";
  }
  return "unknown";
}

void fail_decoding(const ImageDecoding& options, Code code, const std::string& what) {
  throw Error(code, std::string(options.who) + ": " + what);
}

void check_claimed_size(const ImageDecoding& options, ImageSize size, size_t file_bytes) {
  const std::string claim = std::to_string(size.height) + "x" + std::to_string(size.width);
  if (size.height <= 0 || size.width <= 0 || size.channels <= 0) {
    fail_decoding(options, Code::invalid_argument, "no image size: " + claim);
  }
  const int64_t pixels = size.height * size.width;
  const auto bytes = static_cast<int64_t>(file_bytes);
  if (pixels > options.max_pixels) {
    fail_decoding(options, Code::resource_exhausted,
                  "image too large: header claims " + claim + ", max_pixels is " +
                      std::to_string(options.max_pixels));
  }
  if (pixels * size.channels > kMaxImageValues ||
      (pixels > kMaxUncheckedPixels && pixels / kMaxPixelsPerByte > bytes)) {
    fail_decoding(
        options, Code::resource_exhausted,
        "image too large: header claims " + claim + " in " + std::to_string(bytes) + " bytes");
  }
}

void refuse_moving(const ImageDecoding& options, int64_t frames, const char* format) {
  fail_decoding(options, Code::invalid_argument,
                "the " + std::string(format) + " file holds " + std::to_string(frames) +
                    " frames, one is expected; decode_image gives them all, or the first with "
                    "expand_animations=false");
}

void refuse_format(const char* who, std::string_view expected, std::string_view file) {
  if (file.empty()) throw Error(Code::invalid_argument, std::string(who) + ": input is empty");
  std::string what = std::string(who) + ": not a " + std::string(expected) +
                     " file: starts with";  // bounded: a message
  for (const char c : file.substr(0, 4)) {
    char hex[4];
    std::snprintf(hex, sizeof hex, " %02x", static_cast<unsigned>(static_cast<uint8_t>(c)));
    what += hex;
  }
  const ImageFormat format = image_format(file);
  if (format != ImageFormat::unknown) {
    what += " (" + std::string(image_format_name(format)) + ")";
  }
  throw Error(Code::invalid_argument, what);
}

void decode_image_file(std::string_view file, const ImageDecoding& options, bool first_only,
                       int64_t* frames, PixelSink allocate) {
  *frames = 1;
  switch (image_format(file)) {
    case ImageFormat::jpeg:
      return thread_jpeg_decoder().decode(
          file,
          {.channels = options.channels, .max_pixels = options.max_pixels, .who = options.who},
          allocate);
    case ImageFormat::png: return decode_png(file, options, allocate);
    case ImageFormat::bmp: return decode_bmp(file, options, allocate);
    case ImageFormat::gif: return decode_gif(file, options, first_only, frames, allocate);
    case ImageFormat::webp: return decode_webp(file, options, first_only, frames, allocate);
    case ImageFormat::unknown: break;
  }
  refuse_format(options.who, "JPEG, PNG, GIF, BMP or WebP", file);
}

}  // namespace penstock
