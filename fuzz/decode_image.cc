// Any bytes through the decoders of pictures: an Error or pixels, within bounds. A third of the
// inputs are rows of pixels with filters and become a PNG file, so that damage does not end at a
// checksum; what our own reader makes of it must be what libpng makes of it.
#include <png.h>
#include <zlib.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "base/error.h"
#include "functions/kernels/image/image_file.h"
#include "functions/kernels/image/png_plain.h"

namespace penstock {
namespace {

constexpr int64_t kMostPixels = 1 << 20;

void decode(std::string_view file, int channels, bool wide) {
  ImageDecoding options;
  options.channels = channels;
  options.wide = wide;
  options.max_pixels = kMostPixels;
  std::vector<uint8_t> pixels;
  int64_t frames = 0;
  try {
    decode_image_file(file, options, false, &frames, [&](ImageSize size) {
      pixels.resize(static_cast<size_t>(size.height * size.width * size.channels) * (wide ? 2 : 1));
      return pixels.data();
    });
  } catch (const Error&) {
  }
}

void add_number(uint32_t value, std::string* to) {
  for (int shift = 24; shift >= 0; shift -= 8) to->push_back(static_cast<char>(value >> shift));
}

void add_chunk(const std::string& type, const std::string& data, std::string* to) {
  add_number(static_cast<uint32_t>(data.size()), to);
  const std::string body = type + data;
  to->append(body);
  add_number(static_cast<uint32_t>(crc32(0, reinterpret_cast<const Bytef*>(body.data()),
                                         static_cast<uInt>(body.size()))),
             to);
}

// A file around `rows`, whatever these hold: width, colour and depth from the first bytes.
std::string png_of(std::string_view rows) {
  constexpr char kColours[] = {0, 2, 4, 6};
  std::string header;
  add_number(1u + static_cast<uint8_t>(rows[0]) % 40, &header);
  add_number(1u + static_cast<uint8_t>(rows[1]) % 20, &header);
  header.push_back((rows[2] & 4) != 0 ? 16 : 8);
  header.push_back(kColours[rows[2] & 3]);
  header.append(3, '\0');
  uLongf size = compressBound(rows.size());
  std::string data(size, '\0');
  compress(reinterpret_cast<Bytef*>(data.data()), &size,
           reinterpret_cast<const Bytef*>(rows.data()), rows.size());
  data.resize(size);
  std::string out = "\x89PNG\r\n\x1a\n";
  add_chunk("IHDR", header, &out);
  add_chunk("IDAT", data.substr(0, size / 2), &out);
  add_chunk("IDAT", data.substr(size / 2), &out);
  add_chunk("IEND", "", &out);
  return out;
}

void compare_with_libpng(const std::string& file) {
  PlainPng png;
  if (!read_plain_png(file, &png) || png.depth != 8) return;  // libpng converts words by gamma
  const auto bytes = static_cast<size_t>(png.size.height * png.size.width * png.size.channels);
  std::vector<uint8_t> ours(bytes), theirs(bytes);
  if (!decode_plain_png(png, false, ours.data())) return;
  constexpr png_uint_32 kFormats[] = {PNG_FORMAT_GRAY, PNG_FORMAT_GA, PNG_FORMAT_RGB,
                                      PNG_FORMAT_RGBA};
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  PENSTOCK_CHECK(png_image_begin_read_from_memory(&image, file.data(), file.size()) != 0);
  image.format = kFormats[png.size.channels - 1];
  PENSTOCK_CHECK(png_image_finish_read(&image, nullptr, theirs.data(), 0, nullptr) != 0);
  PENSTOCK_CHECK(ours == theirs);
}

}  // namespace
}  // namespace penstock

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace penstock;
  if (size < 4) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const bool wide = (data[0] & 4) != 0;
  if (data[0] % 3 == 0) {
    const std::string file = png_of(bytes);
    decode(file, data[0] >> 4 & 3, wide);
    compare_with_libpng(file);
  } else {
    decode(bytes, data[0] >> 4 & 3, wide);
  }
  return 0;
}
