#include "io/chunked_reader.h"

#include <algorithm>
#include <cstring>

#include "base/origin_text.h"

namespace penstock {
namespace {

constexpr int64_t kLeastChunk = 64;
constexpr int64_t kFirstChunk = 64 << 10;
constexpr int64_t kBufferHeader = sizeof(BufferHeader);

}  // namespace

ChunkedReader::ChunkedReader(const char* format, std::string path, const ReaderOptions& options)
    : format_(format),
      path_(std::move(path)),
      compression_(parse_compression(options.compression)),
      chunk_bytes_(options.chunk_bytes),
      limit_bytes_(options.max_decompressed_bytes) {
  if (chunk_bytes_ < kLeastChunk) {
    throw Error(Code::invalid_argument, format_ + ": chunk_bytes must be at least " +
                                            std::to_string(kLeastChunk) + ": " +
                                            std::to_string(chunk_bytes_));
  }
}

void ChunkedReader::read(RecordChunk* out, int64_t max_records) {
  out->chunks.clear();
  out->records.clear();
  out->error = nullptr;
  out->end = false;
  const int64_t before = stream_ ? stream_->file_bytes_read() : 0;
  if (!finished_) {
    try {
      if (!stream_) stream_ = open_input_stream(path_, compression_, limit_bytes_);
      while (!finished_ && !out->error && out->records.empty()) step(out, max_records);
    } catch (const Error& e) {
      out->error = std::make_shared<const Error>(e.code(), format_ + ": " + e.message());
      finished_ = true;
    }
    if (!out->records.empty()) out->chunks.push_back(buffer_);
  }
  out->file_bytes = stream_ ? stream_->file_bytes_read() - before : 0;
  if (finished_) {
    buffer_ = BufferRef();
    stream_ = nullptr;
  }
  out->end = finished_ && out->records.empty() && !out->error;
}

void ChunkedReader::fail(RecordChunk* out, int64_t at, const std::string& what, Code code) {
  out->error =
      std::make_shared<const Error>(code, format_ + ": " + at_offset(path_, at) + ": " + what);
}

void ChunkedReader::fail_for_good(RecordChunk* out, int64_t at, const std::string& what,
                                  Code code) {
  const int64_t unread = compressed() ? stream_->file_bytes() - stream_->file_bytes_read()
                                      : std::max(stream_->file_bytes(), buffer_offset_ + end_) - at;
  fail(out, at,
       what + "; " + std::to_string(unread) + (compressed() ? " compressed" : "") +
           " bytes of the file are left unread",
       code);
  finished_ = true;
}

int64_t ChunkedReader::skip_byte_order_mark() {
  constexpr std::string_view kMark = "\xef\xbb\xbf";
  constexpr auto kSize = static_cast<int64_t>(kMark.size());
  if (offset() != 0 || available() == 0) return 0;
  const std::string_view begin(data() + begin_, static_cast<size_t>(std::min(available(), kSize)));
  if (!kMark.starts_with(begin)) return 0;
  if (available() < kSize) return kSize;  // take_rest() gets it if the file ends here
  begin_ += kSize;
  return 0;
}

void ChunkedReader::fail_too_large(RecordChunk* out, const std::string& what, Code code) {
  const char* const name = skippable();
  if (!name) return fail_for_good(out, offset(), what, code);
  fail(out, offset(), "the " + std::string(name) + " is too large, and skipped: " + what, code);
  skips_ = true;
}

void ChunkedReader::step(RecordChunk* out, int64_t max_records) {
  if (skips_) {
    if (skip_part()) {
      skips_ = false;
      return;
    }
    buffer_ = BufferRef();  // release the memory before the next part needs it
    if (!refill(out, 0)) finished_ = true;
    return;
  }
  const int64_t needed = take(out, max_records);
  if (!out->records.empty() || out->error || finished_ || skips_) return;
  if (refill(out, needed)) return;
  if (available() > 0 || empty_rest()) take_rest(out);
  finished_ = true;
}

// Allocates the next window. Doubling is only for speed, so a smaller one will do. Returns false if
// even `least` is not available, which is an error.
bool ChunkedReader::allocate_room(int64_t room, int64_t least, BufferRef* next, RecordChunk* out) {
  for (;; room = least) {
    try {
      *next = allocate_buffer(room);
      return true;
    } catch (const Error& e) {
      if (room > least) continue;
      if (available() > 0) {
        fail_too_large(out, e.message(), e.code());
      } else {
        fail_for_good(out, offset(), e.message(), e.code());
      }
      return false;
    }
  }
}

// Reads a chunk after the remaining bytes; returns false at the end of the stream. Sets an error if
// there is no memory.
bool ChunkedReader::refill(RecordChunk* out, int64_t needed) {
  const int64_t left = available();
  const bool first = !buffer_;
  const int64_t coming = stream_->bytes_left();
  if (coming == 0) return false;
  // A length in a compressed file is only a claim: grow with the bytes that really come.
  if (coming < 0) needed = std::min(needed, 2 * left + chunk_bytes_);
  const int64_t chunk = first ? std::min(chunk_bytes_, kFirstChunk) : chunk_bytes_;
  int64_t room = std::max(chunk - kBufferHeader, kLeastChunk);
  room = std::max({room, needed, left + room / 2});
  if (coming > 0) room = std::min(room, left + coming);
  // A record of known length needs all of it; for others any growth is progress.
  const int64_t least = needed > 2 * left ? room : std::min(room, left + left / 8 + kFirstChunk);
  BufferRef next;
  if (!allocate_room(room, least, &next, out)) return true;
  room = coming > 0 ? std::min(next.capacity(), left + coming) : next.capacity();
  if (left > 0) std::memcpy(next.data(), buffer_.data() + begin_, static_cast<size_t>(left));
  const int64_t got = stream_->read({next.data() + left, static_cast<size_t>(room - left)});
  buffer_offset_ += begin_;
  buffer_ = std::move(next);
  begin_ = 0;
  end_ = left + got;
  return got > 0;
}

}  // namespace penstock
