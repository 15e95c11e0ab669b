// A file read from front to back, with several reads in flight where storage is slow to answer.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "io/file.h"

namespace penstock {

// For one thread at a time; read() blocks.
class SequentialFile {
 public:
  // Throws what File throws.
  explicit SequentialFile(std::string path);
  ~SequentialFile();
  SequentialFile(const SequentialFile&) = delete;
  SequentialFile& operator=(const SequentialFile&) = delete;

  // Fills `out` with the bytes after those of the last call; returns fewer only at the end.
  //
  // From the second call on, files that want several reads in flight
  // (RandomAccessFile::reads_in_flight) are read ahead by IoExecutor::current(): the first call may
  // be the only one. Reads ahead stop while half of the memory budget is in use.
  int64_t read(std::span<std::byte> out);
  const File& file() const { return *file_; }

  static constexpr int64_t kRange = 512 << 10;  // bytes of a read ahead

 private:
  class Ahead;
  bool wants_ahead() const;

  const std::shared_ptr<const File> file_;
  int64_t position_ = 0;
  std::shared_ptr<Ahead> ahead_;
};

}  // namespace penstock
