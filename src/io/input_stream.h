// Bytes of a file from front to back, decompressed on request.
//
// For one thread at a time; all calls block, so run them on an I/O thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "data/buffer.h"
#include "io/file.h"

namespace penstock {

enum class Compression : uint8_t { none, gzip, zlib, zstd, lz4, snappy };

// Parses "" (none), "GZIP", "ZLIB", "ZSTD", "LZ4" (frames) and "SNAPPY" (the framing format);
// throws INVALID_ARGUMENT for other words.
Compression parse_compression(std::string_view word);

class InputStream {
 public:
  virtual ~InputStream() = default;

  // Fills `out`; returns the bytes written, fewer than requested only at the end or before an
  // error, which the next call throws. Throws DATA_LOSS for a compressed stream that is cut or
  // corrupt, with file and offset; after that the stream is at its end.
  virtual int64_t read(std::span<std::byte> out) = 0;
  // Returns the bytes that read() will still return, -1 if unknown.
  virtual int64_t bytes_left() const = 0;
  // Size of the file (compressed if it is), and the bytes of it read so far.
  virtual int64_t file_bytes() const = 0;
  virtual int64_t file_bytes_read() const = 0;

  // Calls read() into a new buffer with room for `size` bytes; returns false at the end.
  bool next_chunk(int64_t size, BufferRef* chunk, int64_t* bytes);
};

// Throws what File throws. A compressed file may hold several members or frames; an empty file is
// an empty stream, as in tf.data; bytes after the compressed stream are DATA_LOSS. More than
// `limit_bytes` decompressed bytes are RESOURCE_EXHAUSTED; 0 means 64 MiB plus 1100 times the
// file's size, which no deflate stream can exceed.
std::unique_ptr<InputStream> open_input_stream(std::string path, Compression compression,
                                               int64_t limit_bytes = 0);

}  // namespace penstock
