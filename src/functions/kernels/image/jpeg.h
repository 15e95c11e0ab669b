// JPEG decoding: whole images and windows of them, with libjpeg-turbo.
//
// Pixels are uint8 [height, width, channels], rows packed. They equal libjpeg's accurate integer
// inverse DCT with fancy chroma upsampling (TensorFlow's INTEGER_ACCURATE); EXIF orientation is not
// applied. CMYK and YCCK become RGB. A file is either decoded completely or refused: what libjpeg
// merely warns about (missing or damaged data) is an error here.
//
// Errors: INVALID_ARGUMENT (empty, not a JPEG, unsupported kind, window outside the image),
// DATA_LOSS (cut or damaged), RESOURCE_EXHAUSTED (the header claims more than the limits below).
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <string_view>
#include <type_traits>

namespace penstock {

struct ImageSize {
  int64_t height = 0;
  int64_t width = 0;
  int64_t channels = 0;

  int64_t elements() const { return height * width * channels; }
  bool operator==(const ImageSize&) const = default;
};

// An image may hold this many values at most; beyond the second limit a header is believed only
// when the file has at least one byte for each 2000 pixels.
inline constexpr int64_t kMaxJpegValues = int64_t{1} << 30;
inline constexpr int64_t kMaxUncheckedJpegPixels = int64_t{64} << 20;
inline constexpr int64_t kMaxJpegPixelsPerByte = 2000;

// A reference to a callable `uint8_t*(ImageSize)` that gives room for the pixels; it must outlive
// the call it is passed to, and may throw.
class PixelSink {
 public:
  template <class Callable>
    requires(!std::same_as<std::remove_cvref_t<Callable>, PixelSink>)
  PixelSink(Callable&& callable)
      : object_(const_cast<void*>(static_cast<const void*>(std::addressof(callable)))),
        call_([](void* object, ImageSize size) -> uint8_t* {
          return (*static_cast<std::remove_reference_t<Callable>*>(object))(size);
        }) {}

  uint8_t* operator()(ImageSize size) const { return call_(object_, size); }

 private:
  void* object_;
  uint8_t* (*call_)(void*, ImageSize);
};

// Height, width and components (1, 3, or 4 for CMYK) from the headers alone; everything up to the
// first scan's header must be there, the scan itself need not. Thread-safe.
ImageSize jpeg_shape(std::string_view file);

// Reuses one libjpeg object; for one thread at a time. Usable again after an error.
class JpegDecoder {
 public:
  JpegDecoder();
  ~JpegDecoder();
  JpegDecoder(const JpegDecoder&) = delete;
  JpegDecoder& operator=(const JpegDecoder&) = delete;

  // `channels`: 0 keeps grey as 1 and gives 3 for all else; 1 gives luma (not for CMYK); 3 gives
  // RGB. `allocate` is called once, after the header has been checked.
  void decode(std::string_view file, int channels, PixelSink allocate);

  // The pixels that decode() followed by a crop to rows [y, y + height) and columns [x, x + width)
  // gives, bit for bit. Rows below the window are not read: damage there goes unseen, a file
  // without its end does not.
  void decode_window(std::string_view file, int64_t y, int64_t x, int64_t height, int64_t width,
                     int channels, PixelSink allocate);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The calling thread's own decoder.
JpegDecoder& thread_jpeg_decoder();

}  // namespace penstock
