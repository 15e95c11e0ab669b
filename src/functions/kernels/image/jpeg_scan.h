// Windows of sequential Huffman-coded JPEG files of 8 bits with 1 component, or 3 of YCbCr at
// 4:4:4, 4:2:2 or 4:2:0: what nearly all files are. Bit-equal to libjpeg, at half its time.
// Whatever is unusual, or not plainly right, is left to libjpeg.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "functions/kernels/image/jpeg_entropy.h"

namespace penstock {

struct JpegScan {
  struct Part {
    int across = 1, down = 1;         // sampling factors
    const uint16_t* quant = nullptr;  // 64, in natural order
    const uint8_t *dc_counts = nullptr, *dc_values = nullptr;
    const uint8_t *ac_counts = nullptr, *ac_values = nullptr;
  };
  int64_t height = 0, width = 0;
  int count = 0;  // of components
  std::array<Part, 3> parts{};
  int64_t restart_interval = 0;
  std::string_view data;  // from behind the scan's header on
};

struct ScanWindow {
  int64_t y = 0, x = 0, height = 0, width = 0;
};

// For one thread at a time; keeps memory for a row of blocks, and the codes of the file before.
class ScanDecoder {
 public:
  // The window's pixels with 1 or 3 channels. False when libjpeg must do it; `pixels` may be
  // overwritten then. `to_end`: only when the scan is right down to the image's end.
  bool decode(const JpegScan& scan, const ScanWindow& window, int channels, bool to_end,
              uint8_t* pixels);

 private:
  struct Plane {
    std::vector<uint8_t> held;  // bounded: lines of at most 65535 pixels
    std::array<int16_t, 64> quant{};
    int64_t stride = 0, rows = 0;   // a ring of two rows of MCUs
    int64_t first_column = 0;       // of the picture's samples, of the one at place 0
    int64_t width = 0, height = 0;  // of the whole component
    uint8_t* row(int64_t y) { return held.data() + kColorMargin + (y & (rows - 1)) * stride; }
  };
  static constexpr int64_t kColorMargin = 64;
  struct Codes {
    HuffmanCode dc;
    AcCode ac;
    bool dc_set = false, ac_set = false;
  };

  bool prepare(const JpegScan& scan, const ScanWindow& window, int channels);
  bool set_codes(const JpegScan& scan);
  void transform_row(int64_t mcu_row);
  void repeat_borders(int64_t mcu_row);
  void write_row(int64_t y, const ScanWindow& window, int channels, uint8_t* to);

  EntropyDecoder entropy_;
  std::array<Codes, 3> codes_;
  std::array<Plane, 3> planes_;
  std::vector<int16_t> groups_;  // bounded: lines of at most 65535 pixels
  std::vector<uint8_t> rgb_;     // bounded: lines of at most 65535 pixels
  int across_ = 1, down_ = 1;    // blocks of luma in an MCU
  int planes_count_ = 1;         // that are wanted
  int64_t first_mcu_ = 0, mcus_ = 0, mcus_per_row_ = 0;
};

}  // namespace penstock
