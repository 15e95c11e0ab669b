// Writes TFRecord files.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "io/file.h"

namespace penstock {

// The file comes to be at close(); without it nothing is left behind. For one thread.
// Errors: those of AtomicFile; INVALID_ARGUMENT for an unknown compression.
class RecordWriter {
 public:
  // `compression` is "", "GZIP" or "ZLIB".
  explicit RecordWriter(std::string path, std::string_view compression = {});
  ~RecordWriter();

  void write(std::string_view record);
  // Call once, and nothing after it.
  void close();
  // Records written, and the file's bytes once it is closed.
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
