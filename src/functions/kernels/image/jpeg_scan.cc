#include "functions/kernels/image/jpeg_scan.h"

#include <algorithm>
#include <cstring>

#include "functions/kernels/image/jpeg_color.h"
#include "functions/kernels/image/jpeg_idct.h"

namespace penstock {
namespace {

// The samples of halved chroma that pixels [from, from + count) are made of, one past each border.
struct Range {
  int64_t first, last;
};
Range chroma_range(int64_t from, int64_t count, int64_t samples) {
  return {std::max<int64_t>(0, (from - 1) >> 1), std::min(samples - 1, (from + count) >> 1)};
}

bool supported(const JpegScan& scan) {
  if (scan.count == 1) return true;
  if (scan.count != 3) return false;
  const JpegScan::Part& luma = scan.parts[0];
  for (size_t c = 1; c < 3; ++c) {
    if (scan.parts[c].across != 1 || scan.parts[c].down != 1) return false;
  }
  if (luma.across == 1) return luma.down == 1;
  // Below three samples libjpeg repeats chroma.
  return luma.across == 2 && luma.down <= 2 && scan.width >= 5;
}

}  // namespace

bool ScanDecoder::set_codes(const JpegScan& scan) {
  entropy_.count = scan.count;
  for (size_t c = 0; c < static_cast<size_t>(scan.count); ++c) {
    const JpegScan::Part& part = scan.parts[c];
    EntropyPart& to = entropy_.parts[c];
    to = {};
    // Chroma's components share their codes nearly always.
    if (c == 2 && part.dc_counts == scan.parts[1].dc_counts &&
        part.ac_counts == scan.parts[1].ac_counts) {
      to.dc = &codes_[1].dc;
      to.ac = &codes_[1].ac;
      continue;
    }
    Codes& codes = codes_[c];
    if (!codes.dc_set || !codes.dc.is(part.dc_counts, part.dc_values)) {
      codes.dc_set = codes.dc.build(part.dc_counts, part.dc_values, true);
    }
    if (!codes.ac_set || !codes.ac.code.is(part.ac_counts, part.ac_values)) {
      codes.ac_set = codes.ac.build(part.ac_counts, part.ac_values);
    }
    if (!codes.dc_set || !codes.ac_set) return false;
    to.dc = &codes.dc;
    to.ac = &codes.ac;
  }
  return true;
}

bool ScanDecoder::prepare(const JpegScan& scan, const ScanWindow& window, int channels) {
  if (!supported(scan) || !set_codes(scan)) return false;
  // The blocks of a single component are not interleaved, whatever its factors.
  across_ = scan.count == 1 ? 1 : scan.parts[0].across;
  down_ = scan.count == 1 ? 1 : scan.parts[0].down;
  planes_count_ = channels == 1 ? 1 : scan.count;
  mcus_per_row_ = (scan.width + 8 * across_ - 1) / (8 * across_);
  const int64_t chroma_width = (scan.width + across_ - 1) / across_;
  Range columns{window.x, window.x + window.width - 1};
  if (planes_count_ == 3 && across_ == 2) {
    columns = chroma_range(window.x, window.width, chroma_width);
    columns = {columns.first * 2, columns.last * 2};
  }
  first_mcu_ = columns.first / (8 * across_);
  mcus_ = columns.last / (8 * across_) - first_mcu_ + 1;
  for (int c = 0; c < scan.count; ++c) {
    const auto at = static_cast<size_t>(c);
    EntropyPart& part = entropy_.parts[at];
    const int across = part.across = c == 0 ? across_ : 1;
    const int down = part.down = c == 0 ? down_ : 1;
    if (c >= planes_count_) continue;
    Plane& plane = planes_[at];
    std::ranges::transform(std::span(scan.parts[at].quant, 64), plane.quant.begin(),
                           [](uint16_t q) { return static_cast<int16_t>(q); });
    plane.first_column = first_mcu_ * 8 * across;
    plane.width = c == 0 ? scan.width : chroma_width;
    plane.height = c == 0 ? scan.height : (scan.height + down_ - 1) / down_;
    plane.rows = 16 * down;
    plane.stride = mcus_ * 8 * across + kColorMargin + 2 * kColorRoom;
    plane.held.resize(static_cast<size_t>(plane.rows * plane.stride + kColorMargin));
  }
  // Behind the groups of each row there is one that takes what is written behind them.
  const auto room = [this](int across) {
    return ((mcus_ * across + kGroupBlocks - 1) / kGroupBlocks + 1) * kGroupValues;
  };
  int64_t values = 0;
  groups_.resize(static_cast<size_t>(down_ * room(across_) + (planes_count_ - 1) * room(1)));
  for (size_t c = 0; c < static_cast<size_t>(planes_count_); ++c) {
    EntropyPart& part = entropy_.parts[c];
    for (size_t i = 0; i < static_cast<size_t>(part.down); ++i, values += room(part.across))
      part.groups[i] = groups_.data() + values;
  }
  rgb_.resize(static_cast<size_t>(3 * (window.width + 2 + 2 * kColorRoom)));
  return true;
}

void ScanDecoder::transform_row(int64_t mcu_row) {
  for (size_t c = 0; c < static_cast<size_t>(planes_count_); ++c) {
    Plane& plane = planes_[c];
    const EntropyPart& part = entropy_.parts[c];
    for (int i = 0; i < part.down; ++i) {
      inverse_dct({.groups = part.groups[static_cast<size_t>(i)],
                   .count = (mcus_ * part.across + kGroupBlocks - 1) / kGroupBlocks,
                   .quant = plane.quant.data(),
                   .samples = plane.row((mcu_row * part.down + i) * 8),
                   .stride = plane.stride});
    }
  }
}

// Upsampling takes the samples at the picture's left and right borders for those outside.
void ScanDecoder::repeat_borders(int64_t mcu_row) {
  if (planes_count_ != 3 || across_ != 2) return;
  for (size_t c = 1; c < 3; ++c) {
    Plane& plane = planes_[c];
    const int64_t end = plane.width - plane.first_column;
    for (int64_t y = 8 * mcu_row; y < 8 * mcu_row + 8; ++y) {
      uint8_t* row = plane.row(y);
      if (plane.first_column == 0) row[-1] = row[0];
      if (end <= 8 * mcus_) row[end] = row[end - 1];
    }
  }
}

void ScanDecoder::write_row(int64_t y, const ScanWindow& window, int channels, uint8_t* to) {
  Plane& luma = planes_[0];
  const uint8_t* grey = luma.row(y) + window.x - luma.first_column;
  if (channels == 1) {
    std::memcpy(to, grey, static_cast<size_t>(window.width));
    return;
  }
  if (planes_count_ == 1) return spread_grey(grey, window.width, to);
  const int64_t odd = across_ == 2 ? window.x & 1 : 0;
  Plane &blue = planes_[1], &red = planes_[2];
  const int64_t at = (window.x - odd) / across_ - blue.first_column;
  const int64_t row = down_ == 2 ? y >> 1 : y;
  const int64_t next =
      down_ == 2 ? std::clamp<int64_t>((y & 1) != 0 ? row + 1 : row - 1, 0, blue.height - 1) : row;
  color_row({.luma = grey - odd,
             .blue = blue.row(row) + at,
             .blue_next = blue.row(next) + at,
             .red = red.row(row) + at,
             .red_next = red.row(next) + at,
             .width = window.width + odd,
             .halved = across_ == 2,
             .rows_halved = down_ == 2,
             .rgb = rgb_.data()});
  std::memcpy(to, rgb_.data() + 3 * odd, static_cast<size_t>(3 * window.width));
}

bool ScanDecoder::decode(const JpegScan& scan, const ScanWindow& window, int channels, bool to_end,
                         uint8_t* pixels) {
  if (!inverse_dct_ready() || !prepare(scan, window, channels)) return false;
  const bool context = planes_count_ == 3 && down_ == 2;
  Range rows{window.y, window.y + window.height - 1};
  if (context) {
    rows = chroma_range(window.y, window.height, planes_[1].height);
    rows = {rows.first * 2, rows.last * 2};
  }
  const int64_t first = rows.first / (8 * down_), last = rows.last / (8 * down_);
  entropy_.start(scan.data, scan.restart_interval);
  if (!entropy_.skip(first * mcus_per_row_)) return false;
  int64_t y = window.y;
  for (int64_t row = first; row <= last; ++row) {
    std::ranges::fill(groups_, 0);
    if (!entropy_.skip(first_mcu_) || !entropy_.decode(mcus_)) return false;
    const bool goes_on = row < last || to_end;
    if (goes_on && !entropy_.skip(mcus_per_row_ - first_mcu_ - mcus_)) return false;
    transform_row(row);
    repeat_borders(row);
    // A row of MCUs ends with a row of pixels that needs chroma of the next one.
    const int64_t end =
        row == last ? window.y + window.height
                    : std::min((row + 1) * 8 * down_ - (context ? 1 : 0), window.y + window.height);
    for (; y < end; ++y, pixels += window.width * channels) write_row(y, window, channels, pixels);
  }
  if (!to_end) return true;
  const int64_t mcu_rows = (scan.height + 8 * down_ - 1) / (8 * down_);
  return entropy_.skip((mcu_rows - 1 - last) * mcus_per_row_) && entropy_.at_end();
}

}  // namespace penstock
