// Decodes GZIP and ZLIB with ISA-L.

#include <isa-l/igzip_lib.h>

#include <algorithm>

#include "io/decoding_stream.h"

namespace penstock {
namespace {

const char* reason_of(int status) {
  switch (status) {
    case ISAL_INVALID_BLOCK: return "a block of an unknown kind";
    case ISAL_INVALID_SYMBOL: return "a code that stands for nothing";
    case ISAL_INVALID_LOOKBACK: return "a copy from before the start";
    case ISAL_INVALID_WRAPPER: return "no header of this compression";
    case ISAL_UNSUPPORTED_METHOD: return "a compression method that is not deflate";
    case ISAL_INCORRECT_CHECKSUM: return "the checksum does not match";
    case ISAL_NEED_DICT: return "a preset dictionary";
    default: return "not a deflate stream";
  }
}

class InflateStream final : public DecodingStream {
 public:
  InflateStream(std::string path, bool gzip, int64_t limit_bytes)
      : DecodingStream("", std::move(path), limit_bytes), gzip_(gzip) {
    start_member();
  }

 private:
  void start_member() {
    isal_inflate_init(&state_);
    state_.crc_flag = gzip_ ? ISAL_GZIP : ISAL_ZLIB;
    in_member_ = false;
  }

  size_t decode(std::span<std::byte> out, bool more) override {
    if (!in_member_) {
      if (!more) {
        ended_ = true;
        return 0;
      }
      if (members_ > 0 && (!gzip_ || *next_ != 0x1f)) {
        fail("bytes after the end of the compressed stream");
      }
      in_member_ = true;
    }
    const auto room = static_cast<uint32_t>(std::min<size_t>(out.size(), 1 << 30));
    const size_t had = available_;
    state_.next_in = next_;
    state_.avail_in = static_cast<uint32_t>(available_);
    state_.next_out = reinterpret_cast<uint8_t*>(out.data());
    state_.avail_out = room;
    const int status = isal_inflate(&state_);
    // At the end of a member the decoder steps back over bytes that it took too early; they may
    // belong to the previous window.
    next_ = state_.next_in;
    available_ = state_.avail_in;
    const size_t written = room - state_.avail_out;
    // A checksum is compared with the last bytes decoded: return them first, then the fault.
    if (status < 0 || status == ISAL_NEED_DICT) fail_after(written, reason_of(status));
    if (state_.block_state == ISAL_BLOCK_FINISH) {
      ++members_;
      start_member();
    } else if (written == 0 && !more && available_ == had) {
      fail_cut();
    }
    return written;
  }

  const bool gzip_;
  bool in_member_ = false;
  int64_t members_ = 0;
  inflate_state state_{};
};

}  // namespace

std::unique_ptr<InputStream> open_inflate_stream(std::string path, bool gzip, int64_t limit_bytes) {
  return std::make_unique<InflateStream>(std::move(path), gzip, limit_bytes);
}

}  // namespace penstock
