// Any bytes through our JPEG decoder and through libjpeg: the same pixels or the same error, and of
// a window, given by the first bytes, the pixels that the whole picture has there.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "functions/kernels/image/jpeg.h"

namespace penstock {
namespace {

struct Picture {
  ImageSize size{};
  std::vector<uint8_t> pixels;
  std::string error;

  // As a PixelSink.
  uint8_t* operator()(ImageSize wanted) {
    size = wanted;
    pixels.assign(static_cast<size_t>(wanted.elements()), 0);
    return pixels.data();
  }
};

JpegDecoding options_of(uint8_t flags, bool by_library) {
  JpegDecoding out;
  out.channels = (flags & 1) != 0 ? 3 : (flags & 2) != 0 ? 1 : 0;
  out.by_library = by_library;
  out.max_pixels = 1 << 18;
  return out;
}

Picture decode(std::string_view file, uint8_t flags, bool by_library) {
  Picture out;
  try {
    thread_jpeg_decoder().decode(file, options_of(flags, by_library), out);
  } catch (const Error& e) {
    out.error = e.what();
  }
  return out;
}

void compare_window(std::string_view file, const uint8_t* where, const Picture& whole) {
  const int64_t height = 1 + where[1] % whole.size.height, width = 1 + where[2] % whole.size.width;
  const int64_t y = where[3] % (whole.size.height - height + 1);
  const int64_t x = where[4] % (whole.size.width - width + 1);
  Picture part;
  thread_jpeg_decoder().decode_window(file, y, x, height, width, options_of(where[0], false), part);
  const int64_t channels = whole.size.channels, row = width * channels;
  for (int64_t i = 0; i < height; ++i) {
    const uint8_t* from = whole.pixels.data() + ((y + i) * whole.size.width + x) * channels;
    PENSTOCK_CHECK(std::equal(from, from + row, part.pixels.data() + i * row));
  }
}

}  // namespace
}  // namespace penstock

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace penstock;
  constexpr size_t kHead = 5;
  if (size < kHead) return 0;
  const std::string_view file(reinterpret_cast<const char*>(data) + kHead, size - kHead);
  const Picture ours = decode(file, data[0], false), theirs = decode(file, data[0], true);
  PENSTOCK_CHECK(ours.error == theirs.error);
  if (!ours.error.empty()) return 0;
  PENSTOCK_CHECK(ours.pixels == theirs.pixels);
  compare_window(file, data, ours);
  return 0;
}
