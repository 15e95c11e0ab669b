// Pictures in files: which format, what its decoder is to give, and how large a header may claim to
// be. Decoders are told apart by a file's first bytes, never by its name.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"
#include "functions/kernels/image/pixel_sink.h"

namespace penstock {

enum class ImageFormat : uint8_t { unknown, jpeg, png, gif, bmp, webp };

ImageFormat image_format(std::string_view file);
std::string_view image_format_name(ImageFormat format);  // "PNG"

// An image may hold this many values at most; a picture beyond kMaxUncheckedPixels is believed only
// when its file has at least one byte for each 2000 pixels.
inline constexpr int64_t kMaxImageValues = int64_t{1} << 30;
inline constexpr int64_t kMaxImagePixels = kMaxImageValues;
inline constexpr int64_t kMaxUncheckedPixels = int64_t{64} << 20;
inline constexpr int64_t kMaxPixelsPerByte = 2000;

struct ImageDecoding {
  const char* who = "decode_image";  // the op, for errors
  int channels = 0;                  // 0 as stored, 1 grey, 2 grey + alpha, 3 RGB, 4 RGB + alpha
  bool wide = false;                 // 16 bits a value instead of 8
  int64_t max_pixels = kMaxImagePixels;
  bool one_picture = false;  // a file of several frames is refused
};

// Throws Error: "who: what".
[[noreturn]] void fail_decoding(const ImageDecoding& options, Code code, const std::string& what);

// Throws INVALID_ARGUMENT for an empty side, RESOURCE_EXHAUSTED when the header claims more than
// the limits. `size` is that of all frames together, one below the other.
void check_claimed_size(const ImageDecoding& options, ImageSize size, size_t file_bytes);

// Throws: a file of many frames where one picture is expected.
[[noreturn]] void refuse_moving(const ImageDecoding& options, int64_t frames, const char* format);

// Throws: "decode_png: not a PNG file: starts with 47 49 46 38 (GIF)", or that the file is empty.
[[noreturn]] void refuse_format(const char* who, std::string_view expected, std::string_view file);

// Each decoder reads the whole file or throws Error: INVALID_ARGUMENT for what is no such file or
// is not supported, DATA_LOSS for a cut or damaged one. `allocate` is called once, after the header
// has been checked; when it gives null, nothing more is read. Thread-safe.

// 16-bit values, when asked for, are in the machine's order; 8-bit files are widened by 257.
void decode_png(std::string_view file, const ImageDecoding& options, PixelSink allocate);
// Uncompressed, 8 bits (grey, or RGB when the palette has colours), 24 or 32.
void decode_bmp(std::string_view file, const ImageDecoding& options, PixelSink allocate);
// RGB; the frames lie one below the other, each the whole canvas. Transparent pixels show the frame
// before, black at first. `frames` is set before `allocate` is called; `first_only` ends after one.
void decode_gif(std::string_view file, const ImageDecoding& options, bool first_only,
                int64_t* frames, PixelSink allocate);
void decode_webp(std::string_view file, const ImageDecoding& options, bool first_only,
                 int64_t* frames, PixelSink allocate);

// Any of them, and JPEG. Formats that hold one picture give one frame; `wide` is for PNG alone.
void decode_image_file(std::string_view file, const ImageDecoding& options, bool first_only,
                       int64_t* frames, PixelSink allocate);

// Uint8 or, with `wide`, uint16 pixels of 1 to 4 channels; `level` 0 to 9, -1 for zlib's default.
std::string encode_png(const void* pixels, ImageSize size, bool wide, int level);

}  // namespace penstock
