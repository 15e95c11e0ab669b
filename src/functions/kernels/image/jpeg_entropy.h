// Entropy decoding of one scan of a sequential JPEG file, MCU by MCU.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "functions/kernels/image/jpeg_bits.h"
#include "functions/kernels/image/jpeg_huffman.h"

namespace penstock {

// One component of a scan: its blocks in each MCU, its codes, and where its coefficients go.
struct EntropyPart {
  int across = 1, down = 1;
  // Of each row of blocks in a row of MCUs, groups of jpeg_idct.h, zero before; the first value
  // behind a group may be written too. Null when nobody wants them.
  std::array<int16_t*, 2> groups{};
  const HuffmanCode* dc = nullptr;
  const AcCode* ac = nullptr;
};

class EntropyDecoder {
 public:
  void start(std::string_view scan, int64_t restart_interval);
  std::array<EntropyPart, 3> parts;
  int count = 1;  // of components

  // Decodes `mcus` MCUs, the first of which is the first of its parts' groups. False when the data
  // are not plainly right: libjpeg is to say what is wrong.
  bool decode(int64_t mcus) { return run(mcus, true); }
  // Passes over them.
  bool skip(int64_t mcus) { return run(mcus, false); }
  // Whether nothing but the end of the image follows.
  bool at_end() { return bytes_.used_up(window_) && bytes_.take_marker() == 0xd9; }

 private:
  bool run(int64_t mcus, bool decode);

  ScanBytes bytes_;
  BitWindow window_;
  int32_t last_dc_[3] = {0, 0, 0};
  int64_t interval_ = 0, to_restart_ = 0;
  int next_restart_ = 0;
};

}  // namespace penstock
