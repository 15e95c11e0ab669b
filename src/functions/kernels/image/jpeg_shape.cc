// The size of a JPEG file, from its headers: no libjpeg, nothing decoded.

#include <string>

#include "base/error.h"
#include "functions/kernels/image/jpeg.h"

namespace penstock {
namespace {

[[noreturn]] void fail(const char* who, const std::string& what) {
  throw Error(Code::invalid_argument, std::string(who) + ": " + what);
}

int read_u16(std::string_view file, size_t at) {
  return static_cast<uint8_t>(file[at]) << 8 | static_cast<uint8_t>(file[at + 1]);
}

}  // namespace

ImageSize jpeg_shape(std::string_view file) {
  constexpr const char* who = "extract_jpeg_shape";
  if (image_format(file) != ImageFormat::jpeg) refuse_format(who, "JPEG", file);
  ImageSize size;
  for (size_t at = 2; at + 4 <= file.size();) {
    if (static_cast<uint8_t>(file[at]) != 0xff) {
      ++at;  // libjpeg also skips stray bytes before a marker
      continue;
    }
    const int marker = static_cast<uint8_t>(file[at + 1]);
    if (marker == 0xff) {
      ++at;
      continue;
    }
    const bool bare = marker == 0x00 || marker == 0x01 || (marker >= 0xd0 && marker <= 0xd8);
    if (bare) {
      at += 2;
      continue;
    }
    const size_t length = static_cast<size_t>(read_u16(file, at + 2));
    if (marker == 0xd9 || length < 2 || file.size() - at - 2 < length) break;
    const bool frame =
        marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc;
    if (frame && length >= 8) {
      size = {read_u16(file, at + 5), read_u16(file, at + 7), static_cast<uint8_t>(file[at + 9])};
    }
    if (marker == 0xda) {
      if (size.elements() > 0) return size;
      fail(who, "no image size: " + std::to_string(size.height) + "x" + std::to_string(size.width));
    }
    at += 2 + length;
  }
  fail(who, "header is cut: " + std::to_string(file.size()) + " bytes");
}

}  // namespace penstock
