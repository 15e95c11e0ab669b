// Uncompressed BMP files, read by hand: no library in Debian is as small as this.
#include <cstdlib>
#include <cstring>
#include <string>

#include "functions/kernels/image/image_file.h"

namespace penstock {
namespace {

template <typename T>
T little_endian(std::string_view file, size_t at) {
  T value;
  std::memcpy(&value, file.data() + at, sizeof value);
  return value;
}

struct Header {
  int64_t width = 0, height = 0;
  bool top_down = false;
  int bits = 0;
  size_t pixels_at = 0;
  std::string_view palette;  // four bytes an entry: blue, green, red, 0
  bool grey = true;          // each palette entry is
};

Header read_header(std::string_view file, const ImageDecoding& options) {
  if (image_format(file) != ImageFormat::bmp) refuse_format(options.who, "BMP", file);
  constexpr size_t kHeaders = 54;
  if (file.size() < kHeaders) {
    fail_decoding(options, Code::invalid_argument,
                  "BMP header is cut: " + std::to_string(file.size()) + " bytes");
  }
  Header header;
  header.pixels_at = little_endian<uint32_t>(file, 10);
  const size_t info_bytes = little_endian<uint32_t>(file, 14);
  header.width = little_endian<int32_t>(file, 18);
  const int64_t height = little_endian<int32_t>(file, 22);
  header.height = std::abs(height);
  header.top_down = height < 0;
  header.bits = little_endian<uint16_t>(file, 28);
  const auto compression = little_endian<uint32_t>(file, 30);
  if (info_bytes < 40)
    fail_decoding(options, Code::invalid_argument, "BMP version 2 is not supported");
  // 3 with 32 bits says where the colours lie, nearly always as they do without it.
  if (compression != 0 && !(compression == 3 && header.bits == 32)) {
    fail_decoding(options, Code::invalid_argument,
                  "compressed BMP is not supported: method " + std::to_string(compression));
  }
  if (header.bits != 8 && header.bits != 24 && header.bits != 32) {
    fail_decoding(options, Code::invalid_argument,
                  "BMP must have 8, 24 or 32 bits a pixel, has " + std::to_string(header.bits));
  }
  if (header.bits != 8) return header;
  const size_t used = little_endian<uint32_t>(file, 46);
  const size_t entries = used == 0 || used > 256 ? 256 : used;
  const size_t at = 14 + info_bytes;
  if (at > file.size() || entries * 4 > file.size() - at) {
    fail_decoding(options, Code::data_loss,
                  "BMP palette is cut: " + std::to_string(entries) + " entries");
  }
  header.palette = file.substr(at, entries * 4);
  for (size_t i = 0; i < header.palette.size(); i += 4) {
    const std::string_view entry = header.palette.substr(i, 3);
    header.grey = header.grey && entry[0] == entry[1] && entry[1] == entry[2];
  }
  return header;
}

void read_row(const Header& header, const uint8_t* from, int channels, const ImageDecoding& options,
              uint8_t* to) {
  const int64_t step = header.bits / 8;
  for (int64_t x = 0; x < header.width; ++x, from += step, to += channels) {
    const uint8_t* colour = from;
    if (header.bits == 8) {
      if (from[0] * size_t{4} >= header.palette.size()) {
        fail_decoding(options, Code::data_loss,
                      "BMP colour outside the palette: " + std::to_string(*from));
      }
      colour = reinterpret_cast<const uint8_t*>(header.palette.data()) + from[0] * 4;
    }
    if (channels == 1) {
      to[0] = colour[0];
      continue;
    }
    to[0] = colour[2];
    to[1] = colour[1];
    to[2] = colour[0];
    if (channels == 4) to[3] = header.bits == 32 ? colour[3] : 255;
  }
}

}  // namespace

void decode_bmp(std::string_view file, const ImageDecoding& options, PixelSink allocate) {
  const Header header = read_header(file, options);
  const int stored = header.bits == 32 ? 4 : header.bits == 8 && header.grey ? 1 : 3;
  const int channels = options.channels != 0 ? options.channels : stored;
  if (channels == 2 || (channels == 1 && stored != 1)) {
    fail_decoding(options, Code::invalid_argument,
                  "channels must be 0, 3 or 4 for this BMP file: " + std::to_string(channels));
  }
  const ImageSize size{header.height, header.width, channels};
  check_claimed_size(options, size, file.size());
  const int64_t stride = (header.width * header.bits + 31) / 32 * 4;
  if (header.pixels_at > file.size() ||
      stride * header.height > static_cast<int64_t>(file.size() - header.pixels_at)) {
    fail_decoding(
        options, Code::data_loss,
        "BMP file is cut: ends after " + std::to_string(file.size()) + " bytes, " +
            std::to_string(static_cast<int64_t>(header.pixels_at) + stride * header.height) +
            " expected");
  }
  const auto* from = reinterpret_cast<const uint8_t*>(file.data()) + header.pixels_at;
  uint8_t* to = allocate(size);
  if (to == nullptr) return;
  for (int64_t y = 0; y < header.height; ++y, to += header.width * channels) {
    const int64_t row = header.top_down ? y : header.height - 1 - y;
    read_row(header, from + row * stride, channels, options, to);
  }
}

}  // namespace penstock
