// Writes TFRecord files.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "io/file.h"

namespace penstock {

// A file that appears at close(); without close() it is removed. For one thread. Throws what
// AtomicFile throws; INVALID_ARGUMENT for an unknown compression.
class RecordWriter {
 public:
  // `compression` is "", "GZIP" or "ZLIB".
  explicit RecordWriter(std::string path, std::string_view compression = {});
  ~RecordWriter();

  void write(std::string_view record);
  // Call it once, and nothing after it.
  void close();
  // Number of records written, and the file's size after close().
  int64_t records() const { return records_; }
  int64_t file_bytes() const { return file_.bytes(); }

 private:
  class Deflater;
  void flush();

  AtomicFile file_;
  std::unique_ptr<Deflater> deflater_;
  std::string pending_;
  int64_t records_ = 0;
};

}  // namespace penstock
