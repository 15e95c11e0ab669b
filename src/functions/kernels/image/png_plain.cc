#include "functions/kernels/image/png_plain.h"

#include <isa-l/crc.h>
#include <isa-l/igzip_lib.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "data/charged.h"

namespace penstock {
namespace {

uint32_t big_endian(std::string_view bytes, size_t at) {
  const auto byte = [&](size_t i) { return uint32_t{static_cast<uint8_t>(bytes[at + i])}; };
  return byte(0) << 24 | byte(1) << 16 | byte(2) << 8 | byte(3);
}

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

struct Chunk {
  std::string_view type, data;
  bool whole = false;  // its checksum is right
};

// The chunk at `*at`, which moves behind it; false when the file is cut or it is none.
bool next_chunk(std::string_view file, size_t* at, Chunk* chunk) {
  if (file.size() - *at < 12) return false;
  const size_t size = big_endian(file, *at);
  if (size > file.size() - *at - 12) return false;
  const std::string_view body = file.substr(*at + 4, size + 4);
  chunk->type = body.substr(0, 4);
  chunk->data = body.substr(4);
  if (!std::ranges::all_of(chunk->type, is_letter)) return false;
  // What is left out need not be whole.
  const bool counts = (chunk->type[0] & 0x20) == 0;
  chunk->whole = !counts || crc32_gzip_refl(0, reinterpret_cast<const uint8_t*>(body.data()),
                                            body.size()) == big_endian(file, *at + 8 + size);
  *at += size + 12;
  return true;
}

// Depth 8 or 16, channels, no interlacing.
bool read_header(std::string_view header, PlainPng* png) {
  if (header.size() != 13) return false;
  const auto field = [&](size_t i) { return static_cast<int>(static_cast<uint8_t>(header[i])); };
  png->depth = field(8);
  const int colour = field(9);
  const bool plain = colour == 0 || colour == 2 || colour == 4 || colour == 6;
  if (!plain || (png->depth != 8 && png->depth != 16)) return false;
  if (field(10) != 0 || field(11) != 0 || field(12) != 0) return false;
  const uint32_t width = big_endian(header, 0), height = big_endian(header, 4);
  if (width == 0 || height == 0 || width > INT32_MAX || height > INT32_MAX) return false;
  const int channels = 1 + (colour & 2) + (colour >> 2);
  png->size = {height, width, channels};
  return true;
}

// Rows of bytes, one behind the other, in bands that stay in the cache.
class Inflater {
 public:
  explicit Inflater(const ChargedVector<std::string_view>& pieces) : pieces_(pieces) {
    isal_inflate_init(&state_);
    state_.crc_flag = ISAL_ZLIB;
  }

  // False when there are fewer bytes, or they are damaged.
  bool fill(uint8_t* to, int64_t bytes) {
    while (bytes > 0) {
      const auto room = static_cast<uint32_t>(std::min<int64_t>(bytes, 1 << 30));
      const uint32_t written = step(to, room);
      if (failed_ || (written == 0 && !fed_)) return false;
      to += written;
      bytes -= written;
    }
    return true;
  }

  // Whether the stream ends here, with its checksum, and nothing stands behind it.
  bool at_end() {
    uint8_t more;
    while (state_.block_state != ISAL_BLOCK_FINISH) {
      if (step(&more, 1) > 0 || failed_ || !fed_) {
        if (failed_ || state_.block_state != ISAL_BLOCK_FINISH) return false;
      }
    }
    return !failed_ && state_.avail_in == 0 && next_ == pieces_.size();
  }

 private:
  uint32_t step(uint8_t* to, uint32_t room) {
    if (state_.block_state == ISAL_BLOCK_FINISH) {
      failed_ = true;
      return 0;
    }
    fed_ = state_.avail_in > 0;
    while (state_.avail_in == 0 && next_ < pieces_.size()) {
      const std::string_view piece = pieces_[next_++];
      state_.next_in = reinterpret_cast<uint8_t*>(const_cast<char*>(piece.data()));
      state_.avail_in = static_cast<uint32_t>(piece.size());
      fed_ = state_.avail_in > 0;
    }
    state_.next_out = to;
    state_.avail_out = room;
    const int status = isal_inflate(&state_);
    failed_ = status < 0 || status == ISAL_NEED_DICT;
    return room - state_.avail_out;
  }

  const ChargedVector<std::string_view>& pieces_;
  size_t next_ = 0;
  bool failed_ = false, fed_ = false;
  inflate_state state_;
};

// Big-endian words to the machine's order, or to their upper bytes.
void write_words(const uint8_t* row, int64_t count, bool wide, uint8_t* to) {
  for (int64_t i = 0; i < count; ++i) {
    if (wide) {
      const auto word = static_cast<uint16_t>(row[2 * i] << 8 | row[2 * i + 1]);
      std::memcpy(to + 2 * i, &word, 2);
    } else {
      to[i] = row[2 * i];
    }
  }
}

}  // namespace

bool read_plain_png(std::string_view file, PlainPng* png) {
  if (!file.starts_with("\x89PNG\r\n\x1a\n")) return false;
  size_t at = 8;
  Chunk chunk;
  if (!next_chunk(file, &at, &chunk) || !chunk.whole || chunk.type != "IHDR") return false;
  if (!read_header(chunk.data, png)) return false;
  png->data.clear();
  for (bool behind = false;;) {
    if (!next_chunk(file, &at, &chunk) || !chunk.whole || chunk.type == "tRNS") return false;
    if (chunk.type == "IEND") return chunk.data.empty() && !png->data.empty();
    if (chunk.type == "IDAT") {
      if (behind) return false;
      png->data.push_back(chunk.data);
    } else if ((chunk.type[0] & 0x20) == 0) {
      return false;
    } else {
      behind = !png->data.empty();
    }
  }
}

bool decode_plain_png(const PlainPng& png, bool wide, uint8_t* pixels) {
  constexpr int64_t kBandBytes = 256 << 10, kSlack = 16;
  const ImageSize& size = png.size;
  const bool words = png.depth == 16;
  const int pixel_bytes = static_cast<int>(size.channels) * (words ? 2 : 1);
  const int64_t row_bytes = size.width * pixel_bytes, stored = row_bytes + 1;
  const int64_t band = std::clamp<int64_t>(kBandBytes / stored, 1, size.height);
  ChargedVector<uint8_t> raw(static_cast<size_t>(band * stored + kSlack));
  ChargedVector<uint8_t> zeros(static_cast<size_t>(row_bytes + kSlack), 0);
  ChargedVector<uint8_t> rows(words ? static_cast<size_t>(2 * (row_bytes + kSlack)) : 0);
  const auto inflater = std::make_unique<Inflater>(png.data);
  const uint8_t* above = zeros.data();
  for (int64_t y = 0; y < size.height; ++y) {
    const int64_t in_band = y % band;
    if (in_band == 0 && !inflater->fill(raw.data(), std::min(band, size.height - y) * stored))
      return false;
    const uint8_t* from = raw.data() + in_band * stored;
    uint8_t* row = words ? rows.data() + (y % 2) * (row_bytes + kSlack) : pixels + y * row_bytes;
    if (!unfilter_png_row(*from, pixel_bytes, size.width, from + 1, above, row)) return false;
    if (words) {
      const int64_t count = size.width * size.channels;
      write_words(row, count, wide, pixels + y * count * (wide ? 2 : 1));
    }
    above = row;
  }
  return inflater->at_end();
}

}  // namespace penstock
