#include "functions/kernels/image/exif.h"

#include <cstring>

#include "functions/kernels/image/image_file.h"

namespace penstock {
namespace {

constexpr uint64_t kOrientationTag = 0x0112;

uint64_t number(std::string_view bytes, size_t at, size_t count, bool little) {
  if (at > bytes.size() || bytes.size() - at < count) return 0;
  uint64_t out = 0;
  for (size_t i = 0; i < count; ++i) {
    const size_t from = little ? at + count - 1 - i : at + i;
    out = out << 8 | static_cast<uint8_t>(bytes[from]);
  }
  return out;
}

// The first directory of a TIFF block.
int orientation_of(std::string_view tiff) {
  const bool little = tiff.starts_with("II");
  if (!little && !tiff.starts_with("MM")) return 1;
  const auto directory = static_cast<size_t>(number(tiff, 4, 4, little));
  const uint64_t entries = number(tiff, directory, 2, little);
  for (size_t i = 0; i < entries; ++i) {
    const size_t entry = directory + 2 + 12 * i;
    if (entry + 12 > tiff.size()) return 1;
    if (number(tiff, entry, 2, little) != kOrientationTag) continue;
    const uint64_t value = number(tiff, entry + 8, 2, little);
    return value >= 1 && value <= 8 ? static_cast<int>(value) : 1;
  }
  return 1;
}

int jpeg_orientation(std::string_view file) {
  for (size_t at = 2; at + 4 <= file.size() && file[at] == '\xff';) {
    const auto marker = static_cast<uint8_t>(file[at + 1]);
    if (marker == 0xff) {  // filling
      ++at;
      continue;
    }
    if (marker == 0xda || marker == 0xd9) return 1;
    const auto size = static_cast<size_t>(number(file, at + 2, 2, false));
    const std::string_view segment = file.substr(at + 4, size < 2 ? 0 : size - 2);
    if (marker == 0xe1 && segment.starts_with(std::string_view("Exif\0\0", 6)))
      return orientation_of(segment.substr(6));
    at += 2 + size;
  }
  return 1;
}

int png_orientation(std::string_view file) {
  for (size_t at = 8; at + 12 <= file.size();) {
    const auto size = static_cast<size_t>(number(file, at, 4, false));
    const std::string_view type = file.substr(at + 4, 4);
    if (type == "eXIf") return orientation_of(file.substr(at + 8, size));
    if (type == "IEND") return 1;
    at += 12 + size;
  }
  return 1;
}

int webp_orientation(std::string_view file) {
  for (size_t at = 12; at + 8 <= file.size();) {
    const auto size = static_cast<size_t>(number(file, at + 4, 4, true));
    if (file.substr(at, 4) == "EXIF") {
      std::string_view block = file.substr(at + 8, size);
      if (block.starts_with(std::string_view("Exif\0\0", 6))) block.remove_prefix(6);
      return orientation_of(block);
    }
    at += 8 + size + size % 2;
  }
  return 1;
}

}  // namespace

int exif_orientation(std::string_view file) {
  switch (image_format(file)) {
    case ImageFormat::jpeg: return jpeg_orientation(file);
    case ImageFormat::png: return png_orientation(file);
    case ImageFormat::webp: return webp_orientation(file);
    default: return 1;
  }
}

ImageSize upright_size(ImageSize stored, int orientation) {
  if (orientation < 5) return stored;
  return {stored.width, stored.height, stored.channels};
}

void turn_upright(const uint8_t* stored, ImageSize size, int64_t pixel_bytes, int orientation,
                  uint8_t* to) {
  const ImageSize upright = upright_size(size, orientation);
  const int64_t bottom = size.height - 1, right = size.width - 1;
  for (int64_t y = 0; y < upright.height; ++y) {
    for (int64_t x = 0; x < upright.width; ++x, to += pixel_bytes) {
      int64_t row = y, column = x;
      switch (orientation) {
        case 2: column = right - x; break;
        case 3: row = bottom - y, column = right - x; break;
        case 4: row = bottom - y; break;
        case 5: row = x, column = y; break;
        case 6: row = bottom - x, column = y; break;
        case 7: row = bottom - x, column = right - y; break;
        case 8: row = x, column = right - y; break;
        default: break;
      }
      std::memcpy(to, stored + (row * size.width + column) * pixel_bytes,
                  static_cast<size_t>(pixel_bytes));
    }
  }
}

}  // namespace penstock
