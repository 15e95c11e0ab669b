// Files of any file system: reading at offsets, and writing that leaves a complete file or none.
//
// All calls block. Errors are those of the file system: "open: train.tfrecord: No such file or
// directory". Every open and read is counted (io/read_counter.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "io/file_system.h"

namespace penstock {

// A file open for reading; closed with the object. pread is thread-safe.
class File {
 public:
  // Throws what FileSystem::open throws; `caller` begins the message.
  explicit File(std::string path, std::string_view caller = "open");

  // Fills `out` from `offset`; returns the bytes read, fewer than requested only at the end.
  int64_t pread(std::span<std::byte> out, int64_t offset) const;
  // Size when it was opened; 0 for files of /proc, whatever they contain.
  int64_t size() const { return file_->status().bytes; }
  const FileStatus& status() const { return file_->status(); }
  // Returns true if a read that ends before size() has lost nothing: files of /sys.
  bool size_is_a_guess() const { return file_->size_is_a_guess(); }
  int reads_in_flight() const { return file_->reads_in_flight(); }
  // Tells the file system to expect sequential reads.
  void expect_sequential_reads() const { file_->expect_sequential_reads(); }
  // Returns the bytes mapped until the process ends, null if the file system cannot map. A mapped
  // file that becomes shorter ends the process when the lost bytes are read.
  const std::byte* map() const { return file_->map(); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  std::unique_ptr<RandomAccessFile> file_;
};

// A file that appears at commit(). Without commit() the destructor discards it. For one thread.
class AtomicFile {
 public:
  // Throws INVALID_ARGUMENT if the path exists and is not a regular file, such as a device.
  explicit AtomicFile(const std::string& path);

  void append(std::string_view bytes);
  // Makes the file durable and visible as `path`. Call it at most once, and nothing after it.
  void commit() { writer_->commit(); }
  int64_t bytes() const { return bytes_; }

 private:
  std::unique_ptr<FileWriter> writer_;
  int64_t bytes_ = 0;
};

// Removes the files of uncommitted AtomicFiles and blocks every thread that makes or commits one
// from now on. Call it before the process ends on a signal.
void discard_unfinished_files();

// Replaces `path` by a file of these bytes, or throws and leaves it unchanged; a full disk is
// RESOURCE_EXHAUSTED.
void write_file_atomically(const std::string& path, std::string_view bytes);

// Returns the whole file, also one whose size is wrong: files of /proc have size 0, those of /sys
// are shorter than their size. Throws what File throws, RESOURCE_EXHAUSTED above `limit` bytes,
// DATA_LOSS if the file is cut during the read.
std::string read_regular(std::string_view caller, const std::string& path, int64_t limit);
std::string read_regular(std::string_view caller, const File& file, int64_t limit);

// The same, of pipes and devices too: waits for the writer of a pipe.
std::string read_file(const std::string& path, int64_t limit);

}  // namespace penstock
