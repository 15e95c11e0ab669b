// Common part of compressed streams: the input window, errors delayed until the bytes before them
// are taken, and the limit on the decoded size.
#pragma once

#include <memory>
#include <string>

#include "base/error.h"
#include "io/input_stream.h"
#include "io/sequential_file.h"

namespace penstock {

class DecodingStream : public InputStream {
 public:
  // `what` names the stream in messages: "zstd".
  DecodingStream(std::string what, std::string path, int64_t limit_bytes);

  int64_t read(std::span<std::byte> out) final;
  int64_t bytes_left() const final { return ended_ && !error_ ? 0 : -1; }
  int64_t file_bytes() const final { return in_.file().size(); }
  int64_t file_bytes_read() const final { return position_ - static_cast<int64_t>(available_); }

 protected:
  // Decodes some of the window into `out` (not empty); returns the bytes written. `more` is false
  // if the window is empty and the file has ended: the decoder then calls fail_cut(), or sets
  // ended_ if the stream may end.
  virtual size_t decode(std::span<std::byte> out, bool more) = 0;

  [[noreturn]] void fail(const std::string& reason) const;
  // Throws the same after the `written` good bytes have been returned; returns if there are any.
  void fail_after(size_t written, const std::string& reason);
  [[noreturn]] void fail_cut() const { fail("the compressed stream is cut"); }

  // The window: bytes of the file not yet decoded. The kHead bytes before it may be read; they
  // precede it in the file.
  static constexpr int64_t kHead = 64;
  uint8_t* next_ = nullptr;
  size_t available_ = 0;
  bool ended_ = false;

 private:
  bool fill();

  const std::string what_;
  SequentialFile in_;
  int64_t position_ = 0;  // offset in the file up to which it was read into the window
  int64_t given_ = 0, limit_bytes_;
  BufferRef input_;
  ErrorPtr error_;
};

std::unique_ptr<InputStream> open_inflate_stream(std::string path, bool gzip, int64_t limit_bytes);
std::unique_ptr<InputStream> open_zstd_stream(std::string path, int64_t limit_bytes);
std::unique_ptr<InputStream> open_lz4_stream(std::string path, int64_t limit_bytes);
std::unique_ptr<InputStream> open_snappy_stream(std::string path, int64_t limit_bytes);

}  // namespace penstock
