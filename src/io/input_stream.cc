#include "io/input_stream.h"

#include <isa-l/igzip_lib.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/error.h"

namespace penstock {
namespace {

class PlainStream final : public InputStream {
 public:
  explicit PlainStream(std::string path) : file_(std::move(path)) {
    file_.expect_sequential_reads();
  }

  int64_t read(std::span<std::byte> out) override {
    const int64_t got = file_.pread(out, position_);
    position_ += got;
    if (got < static_cast<int64_t>(out.size()) && position_ < file_.size()) {
      throw Error(Code::data_loss, file_.path() + ": offset " + std::to_string(position_) +
                                       ": the file had " + std::to_string(file_.size()) +
                                       " bytes when it was opened, and no longer has");
    }
    return got;
  }
  // Files of /proc say that they have no bytes.
  int64_t bytes_left() const override {
    return file_.size() == 0 ? -1 : std::max<int64_t>(file_.size() - position_, 0);
  }
  int64_t file_bytes() const override { return file_.size(); }
  int64_t file_bytes_read() const override { return position_; }

 private:
  File file_;
  int64_t position_ = 0;
};

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

class InflateStream final : public InputStream {
 public:
  InflateStream(std::string path, Compression compression)
      : file_(std::move(path)), gzip_(compression == Compression::gzip) {
    file_.expect_sequential_reads();
    start_member();
  }

  int64_t read(std::span<std::byte> out) override {
    if (error_) throw Error(*std::exchange(error_, nullptr));
    size_t done = 0;
    try {
      while (done < out.size() && !ended_) done += inflate(out.subspan(done));
    } catch (...) {
      ended_ = true;
      if (done == 0) throw;
      error_ = current_error();
    }
    return static_cast<int64_t>(done);
  }
  int64_t bytes_left() const override { return ended_ && !error_ ? 0 : -1; }
  int64_t file_bytes() const override { return file_.size(); }
  int64_t file_bytes_read() const override { return position_ - state_.avail_in; }

 private:
  void start_member() {
    uint8_t* const next = state_.next_in;
    const uint32_t available = state_.avail_in;
    isal_inflate_init(&state_);  // which forgets the input
    state_.next_in = next;
    state_.avail_in = available;
    state_.crc_flag = gzip_ ? ISAL_GZIP : ISAL_ZLIB;
    in_member_ = false;
  }

  // False at the end of the file.
  bool fill() {
    if (state_.avail_in > 0) return true;
    if (!input_) input_ = allocate_buffer(std::min(kInputBytes, kHead + file_.size() + 1));
    std::byte* const begin = input_.data() + kHead;
    // At the end of a member the decoder steps back over bytes that it took too early; they may be
    // of the input before this one.
    if (state_.next_in) std::memmove(input_.data(), state_.next_in - kHead, kHead);
    const auto room = static_cast<size_t>(std::min(input_.capacity(), kInputBytes) - kHead);
    const int64_t got = file_.pread({begin, room}, position_);
    position_ += got;
    state_.next_in = reinterpret_cast<uint8_t*>(begin);
    state_.avail_in = static_cast<uint32_t>(got);
    return got > 0;
  }

  // One step; returns the bytes written.
  size_t inflate(std::span<std::byte> out) {
    const bool more = fill();
    if (!in_member_) {
      if (!more) {
        ended_ = true;
        return 0;
      }
      if (members_ > 0 && (!gzip_ || *state_.next_in != 0x1f)) {
        fail("bytes after the end of the compressed stream");
      }
      in_member_ = true;
    }
    const auto room = static_cast<uint32_t>(std::min<size_t>(out.size(), 1 << 30));
    const uint32_t had = state_.avail_in;
    state_.next_out = reinterpret_cast<uint8_t*>(out.data());
    state_.avail_out = room;
    const int status = isal_inflate(&state_);
    const size_t written = room - state_.avail_out;
    if (status < 0 || status == ISAL_NEED_DICT) fail(reason_of(status));
    if (state_.block_state == ISAL_BLOCK_FINISH) {
      ++members_;
      start_member();
    } else if (written == 0 && !more && state_.avail_in == had) {
      fail("the compressed stream is cut");
    }
    return written;
  }

  [[noreturn]] void fail(const std::string& what) {
    throw Error(Code::data_loss, file_.path() + ": offset " + std::to_string(file_bytes_read()) +
                                     " of " + std::to_string(file_.size()) + ": " + what);
  }

  static constexpr int64_t kInputBytes = (256 << 10) - 64;
  static constexpr int64_t kHead = 64;

  File file_;
  bool gzip_;
  bool in_member_ = false;
  bool ended_ = false;
  int64_t members_ = 0;
  int64_t position_ = 0;  // in the file: read into input_
  BufferRef input_;
  ErrorPtr error_;
  inflate_state state_{};
};

}  // namespace

Compression parse_compression(std::string_view word) {
  if (word.empty()) return Compression::none;
  if (word == "GZIP") return Compression::gzip;
  if (word == "ZLIB") return Compression::zlib;
  throw Error(Code::invalid_argument,
              "compression must be \"\", \"GZIP\" or \"ZLIB\": \"" + std::string(word) + "\"");
}

bool InputStream::next_chunk(int64_t size, BufferRef* chunk, int64_t* bytes) {
  *chunk = allocate_buffer(size);
  *bytes = read({chunk->data(), static_cast<size_t>(size)});
  return *bytes > 0;
}

std::unique_ptr<InputStream> open_input_stream(std::string path, Compression compression) {
  if (compression == Compression::none) return std::make_unique<PlainStream>(std::move(path));
  return std::make_unique<InflateStream>(std::move(path), compression);
}

}  // namespace penstock
