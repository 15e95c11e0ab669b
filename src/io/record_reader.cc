#include "io/record_reader.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <span>
#include <utility>

#include "base/crc32c.h"
#include "io/input_stream.h"

namespace penstock {
namespace {

constexpr int64_t kLeastChunk = 64;
constexpr int64_t kFirstChunk = 64 << 10;
constexpr int64_t kBufferHeader = sizeof(BufferHeader);

// What the formats share: a window of the stream, [begin_, end_) of buffer_, not yet given out.
// When it holds no whole record, what is left of it moves to the front of a new buffer.
class ChunkedReader : public RecordReader {
 public:
  ChunkedReader(const char* format, std::string path, const ReaderOptions& options)
      : format_(format),
        path_(std::move(path)),
        compression_(parse_compression(options.compression)),
        chunk_bytes_(options.chunk_bytes) {
    if (chunk_bytes_ < kLeastChunk) {
      throw Error(Code::invalid_argument, format_ + ": chunk_bytes must be at least " +
                                              std::to_string(kLeastChunk) + ": " +
                                              std::to_string(chunk_bytes_));
    }
  }

  void read(RecordChunk* out, int64_t max_records) final {
    out->chunks.clear();
    out->records.clear();
    out->error = nullptr;
    out->end = false;
    if (!finished_) {
      try {
        if (!stream_) stream_ = open_input_stream(path_, compression_);
        while (!finished_ && !out->error && out->records.empty()) step(out, max_records);
      } catch (const Error& e) {
        out->error = std::make_shared<const Error>(e.code(), format_ + ": " + e.message());
        finished_ = true;
      }
      if (!out->records.empty()) out->chunks.push_back(buffer_);
    }
    if (finished_) {
      buffer_ = BufferRef();
      stream_ = nullptr;
    }
    out->end = finished_ && out->records.empty() && !out->error;
  }

 protected:
  // Takes whole records from the window, up to `max_records`, and sets error when bad ones follow.
  // On none, returns how many bytes the window must have for more, 0 for as many as come.
  virtual int64_t take(RecordChunk* out, int64_t max_records) = 0;
  // The stream has ended; the window (not empty) holds no whole record. Gives what it is then.
  virtual void take_rest(RecordChunk* out) = 0;

  const char* data() const { return reinterpret_cast<const char*>(buffer_.data()); }
  int64_t available() const { return end_ - begin_; }
  // Of the window's begin, in the (decompressed) file.
  int64_t offset() const { return buffer_offset_ + begin_; }
  const InputStream& stream() const { return *stream_; }

  void give(RecordChunk* out, int64_t at, int64_t size, int64_t offset) const {
    out->records.push_back({data() + at, size, offset});
  }

  void fail(RecordChunk* out, int64_t at, const std::string& what) {
    out->error = std::make_shared<const Error>(
        Code::data_loss, format_ + ": " + path_ + ": offset " + std::to_string(at) + ": " + what);
  }
  // The same, and nothing of the file can be read after it.
  void fail_for_good(RecordChunk* out, int64_t at, const std::string& what) {
    const bool plain = compression_ == Compression::none;
    const int64_t unread = plain ? std::max(stream_->file_bytes(), buffer_offset_ + end_) - at
                                 : stream_->file_bytes() - stream_->file_bytes_read();
    fail(out, at,
         what + "; " + std::to_string(unread) + (plain ? "" : " compressed") +
             " bytes of the file are left unread");
    finished_ = true;
  }

  int64_t begin_ = 0;
  int64_t end_ = 0;

 private:
  void step(RecordChunk* out, int64_t max_records) {
    const int64_t needed = take(out, max_records);
    if (!out->records.empty() || out->error) return;
    if (refill(needed)) return;
    if (available() > 0) take_rest(out);
    finished_ = true;
  }

  // Reads a chunk behind what is left; false at the end of the stream.
  bool refill(int64_t needed) {
    const int64_t left = available();
    const bool first = !buffer_;
    const int64_t coming = stream_->bytes_left();
    if (coming == 0) return false;
    // A length in a compressed file is only a claim: the room grows with what is there.
    if (coming < 0) needed = std::min(needed, 2 * left + chunk_bytes_);
    const int64_t chunk = first ? std::min(chunk_bytes_, kFirstChunk) : chunk_bytes_;
    int64_t room = std::max(chunk - kBufferHeader, kLeastChunk);
    room = std::max({room, needed, left + room / 2});
    if (coming > 0) room = std::min(room, left + coming);
    BufferRef next = allocate_buffer(room);
    room = coming > 0 ? std::min(next.capacity(), left + coming) : next.capacity();
    if (left > 0) std::memcpy(next.data(), buffer_.data() + begin_, static_cast<size_t>(left));
    const int64_t got = stream_->read({next.data() + left, static_cast<size_t>(room - left)});
    buffer_offset_ += begin_;
    buffer_ = std::move(next);
    begin_ = 0;
    end_ = left + got;
    return got > 0;
  }

  const std::string format_;
  const std::string path_;
  const Compression compression_;
  const int64_t chunk_bytes_;
  std::unique_ptr<InputStream> stream_;
  BufferRef buffer_;
  int64_t buffer_offset_ = 0;  // of buffer_'s first byte, in the (decompressed) file
  bool finished_ = false;
};

template <class T>
T load(const char* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

uint32_t masked_crc(const char* data, int64_t size) {
  return mask_crc(crc32c(std::as_bytes(std::span(data, static_cast<size_t>(size)))));
}

std::string mismatch(const char* what, uint32_t found, uint32_t computed) {
  char text[128];
  std::snprintf(text, sizeof text,
                "%s checksum does not match: 0x%08x in the file, 0x%08x computed", what, found,
                computed);
  return text;
}

// A record is: uint64 length, uint32 its checksum, the data, uint32 their checksum.
class TfRecordReader final : public ChunkedReader {
 public:
  TfRecordReader(std::string path, const ReaderOptions& options)
      : ChunkedReader("tfrecord", std::move(path), options), verify_(options.verify_checksums) {}

 private:
  static constexpr int64_t kHead = 12;
  static constexpr int64_t kFoot = 4;

  int64_t take(RecordChunk* out, int64_t max_records) override {
    while (static_cast<int64_t>(out->records.size()) < max_records) {
      if (available() < kHead) return kHead;
      const char* head = data() + begin_;
      const auto size = load<uint64_t>(head);
      if (const int64_t at = offset(); at >= checked_to_) {
        checked_to_ = at + 1;
        if (!check_length(out, at, head, size)) return 0;
      }
      const auto bytes = static_cast<int64_t>(size);
      const int64_t whole = kHead + bytes + kFoot;
      if (available() < whole) return whole;
      const int64_t at = offset();
      const int64_t begin = std::exchange(begin_, begin_ + whole);
      if (verify_) {
        const uint32_t computed = masked_crc(head + kHead, bytes);
        const auto found = load<uint32_t>(head + kHead + bytes);
        if (found != computed) {
          fail(out, at, mismatch("data", found, computed));
          return 0;
        }
      }
      give(out, begin + kHead, bytes, at);
    }
    return 0;
  }

  bool check_length(RecordChunk* out, int64_t at, const char* head, uint64_t size) {
    if (verify_) {
      const auto found = load<uint32_t>(head + 8);
      const uint32_t computed = masked_crc(head, 8);
      if (found != computed) {
        fail_for_good(out, at, mismatch("length", found, computed));
        return false;
      }
    }
    if (size > static_cast<uint64_t>(kMaxRecordBytes)) {
      fail_for_good(out, at,
                    "the record has " + std::to_string(size) + " bytes, over the limit of " +
                        std::to_string(kMaxRecordBytes));
      return false;
    }
    const int64_t coming = stream().bytes_left();
    const auto whole = kHead + static_cast<int64_t>(size) + kFoot;
    if (coming >= 0 && whole > available() + coming) {
      cut(out, at, whole, available() + coming);
      return false;
    }
    return true;
  }

  void take_rest(RecordChunk* out) override {
    int64_t whole = kHead;
    if (available() >= kHead) {
      whole += static_cast<int64_t>(load<uint64_t>(data() + begin_)) + kFoot;
    }
    cut(out, offset(), whole, available());
  }

  void cut(RecordChunk* out, int64_t at, int64_t whole, int64_t left) {
    fail_for_good(out, at,
                  "the file is cut: " + std::to_string(left) + " bytes where a " +
                      (whole == kHead ? "header" : "record") + " has " + std::to_string(whole));
  }

  const bool verify_;
  int64_t checked_to_ = 0;  // lengths before this offset are checked
};

class TextLineReader final : public ChunkedReader {
 public:
  TextLineReader(std::string path, const ReaderOptions& options)
      : ChunkedReader("text_line", std::move(path), options) {}

 private:
  int64_t take(RecordChunk* out, int64_t max_records) override {
    while (static_cast<int64_t>(out->records.size()) < max_records) {
      if (available() == 0) return 0;
      const char* line = data() + begin_;
      const void* found = std::memchr(line + seen_, '\n', static_cast<size_t>(available() - seen_));
      if (!found) {
        seen_ = available();
        if (seen_ <= kMaxRecordBytes) return 2 * seen_;
        fail_for_good(out, offset(),
                      "the line has more than " + std::to_string(kMaxRecordBytes) + " bytes");
        return 0;
      }
      seen_ = 0;
      const int64_t size = static_cast<const char*>(found) - line;
      give_line(out, size);
      begin_ += size + 1;
    }
    return 0;
  }

  void take_rest(RecordChunk* out) override {
    give_line(out, available());
    begin_ = end_;
  }

  void give_line(RecordChunk* out, int64_t size) {
    auto* line = const_cast<char*>(data()) + begin_;  // nobody else has seen these bytes yet
    int64_t kept = size;
    if (std::memchr(line, '\r', static_cast<size_t>(size))) {
      kept = std::remove(line, line + size, '\r') - line;
    }
    give(out, begin_, kept, offset());
  }

  int64_t seen_ = 0;  // bytes of the window known to hold no newline
};

}  // namespace

std::unique_ptr<RecordReader> open_tfrecord(std::string path, const ReaderOptions& options) {
  return std::make_unique<TfRecordReader>(std::move(path), options);
}

std::unique_ptr<RecordReader> open_text_lines(std::string path, const ReaderOptions& options) {
  return std::make_unique<TextLineReader>(std::move(path), options);
}

}  // namespace penstock
