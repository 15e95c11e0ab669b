// JPEG decoding: whole images and windows of them. Usual files are decoded by jpeg_scan.h, the
// others and those that are not plainly right by libjpeg-turbo, which also reads the headers.
//
// Pixels are uint8 [height, width, channels], rows packed. They equal libjpeg's accurate integer
// inverse DCT with fancy chroma upsampling (TensorFlow's INTEGER_ACCURATE); EXIF orientation is not
// applied. CMYK and YCCK become RGB. A file is either decoded completely or refused: what libjpeg
// merely warns about (missing or damaged data) is an error here.
//
// Errors: INVALID_ARGUMENT (empty, not a JPEG, unsupported kind, window outside the image),
// DATA_LOSS (cut or damaged), RESOURCE_EXHAUSTED (the header claims more than the limits below).
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "functions/kernels/image/image_file.h"

namespace penstock {

// How the pixels are computed. The defaults are exact; the others trade for speed on request.
struct JpegDecoding {
  int channels = 0;       // 0 keeps grey as 1, else 3; 1 luma (not of CMYK); 3 RGB
  int ratio = 1;          // 1, 2, 4 or 8: so much smaller, rounded up, by a smaller inverse DCT
  bool fast_dct = false;  // at most some ten levels off
  bool fancy_upsampling = true;          // chroma interpolated, not repeated
  bool by_library = false;               // by libjpeg alone, to compare with
  int64_t max_pixels = kMaxImagePixels;  // of the stored picture
  bool check_rest = false;    // of a window: damage elsewhere in the file is an error, too
  const char* who = nullptr;  // the op, for errors, when it has another name
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

  // `allocate` is called once, after the header has been checked.
  void decode(std::string_view file, const JpegDecoding& options, PixelSink allocate);

  // The pixels that decode() followed by a crop to rows [y, y + height) and columns [x, x + width)
  // gives, bit for bit (of the smaller picture with a ratio). Without check_rest, what follows the
  // window's last row is not read: damage there goes unseen, a file without its end does not.
  void decode_window(std::string_view file, int64_t y, int64_t x, int64_t height, int64_t width,
                     const JpegDecoding& options, PixelSink allocate);

  // The same without libjpeg: false for a file that is not a usual one, whatever was allocated.
  bool decode_usual_window(std::string_view file, int64_t y, int64_t x, int64_t height,
                           int64_t width, const JpegDecoding& options, PixelSink allocate);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The calling thread's own decoder.
JpegDecoder& thread_jpeg_decoder();

}  // namespace penstock
