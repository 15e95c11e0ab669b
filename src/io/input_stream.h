// The bytes of a file from front to back, decompressed if so wished.
//
// For one thread at a time; all calls block (run them on an I/O thread).
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

// "" is none; "GZIP", "ZLIB", "ZSTD", "LZ4" (frames) and "SNAPPY" (the framing format) are
// themselves; throws INVALID_ARGUMENT for other words.
Compression parse_compression(std::string_view word);

class InputStream {
 public:
  virtual ~InputStream() = default;

  // Fills `out`; returns the bytes written there, fewer than asked for only at the end or before an
  // error, which the next call throws. DATA_LOSS for a compressed stream that is cut or corrupt,
  // with file and offset in the file; a stream that has failed is at its end.
  virtual int64_t read(std::span<std::byte> out) = 0;
  // Bytes that read() will still give, -1 when that is not known.
  virtual int64_t bytes_left() const = 0;
  // Bytes of the file (compressed, if so) and how many of them have been read.
  virtual int64_t file_bytes() const = 0;
  virtual int64_t file_bytes_read() const = 0;

  // read() into a new buffer with room for `size` bytes; false at the end.
  bool next_chunk(int64_t size, BufferRef* chunk, int64_t* bytes);
};

// Throws what File throws. A compressed file may hold several members or frames; an empty file is
// an empty stream, as tf.data has it; bytes after the compressed stream are DATA_LOSS. A compressed
// file that gives more than `limit_bytes` is RESOURCE_EXHAUSTED there; 0 stands for 64 MiB and
// 1100 times the file's size, which no deflate stream can pass.
std::unique_ptr<InputStream> open_input_stream(std::string path, Compression compression,
                                               int64_t limit_bytes = 0);

}  // namespace penstock
