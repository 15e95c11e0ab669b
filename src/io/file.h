// Files: reading at offsets, and writing that leaves a complete file or none.
//
// All calls block. Errors are those of system_error: "open: train.tfrecord: No such file or
// directory".
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/open_file.h"

namespace penstock {

// A file open for reading; closed with the object. pread is thread-safe.
class File {
 public:
  // Throws NOT_FOUND, PERMISSION_DENIED, RESOURCE_EXHAUSTED (too many open files),
  // FAILED_PRECONDITION (a folder) or INVALID_ARGUMENT (a pipe, device or socket; does not wait for
  // it).
  explicit File(std::string path);

  // Fills `out` from `offset`; returns the bytes read, fewer than requested only at the end.
  int64_t pread(std::span<std::byte> out, int64_t offset) const;
  // Size when it was opened; 0 for files of /proc, whatever they contain.
  int64_t size() const { return opened_.status.st_size; }
  // Returns true if a read that ends before size() has lost nothing: files of /sys.
  bool size_is_a_guess() const { return penstock::size_is_a_guess(opened_.fd.get(), size()); }
  // Tells the system to expect sequential reads.
  void expect_sequential_reads() const;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  OpenedFile opened_;
};

// A file that appears at commit(); before, it has a temporary name in the same folder. Without
// commit() the destructor removes it. For one thread.
class AtomicFile {
 public:
  // Replaces the target of a symbolic link. Throws INVALID_ARGUMENT if the path exists and is not a
  // regular file, such as a device.
  explicit AtomicFile(std::string path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void append(std::string_view bytes);
  // Syncs to disk and renames to `path`. Call it at most once, and nothing after it.
  void commit();
  int64_t bytes() const { return bytes_; }

 private:
  std::string path_;
  std::string temporary_;
  int fd_ = -1;
  int64_t bytes_ = 0;
};

// Removes the files of uncommitted AtomicFiles and blocks every thread that makes or commits one
// from now on. Call it before the process ends on a signal.
void discard_unfinished_files();

// Replaces `path` by a file of these bytes, or throws and leaves it unchanged; a full disk is
// RESOURCE_EXHAUSTED.
void write_file_atomically(const std::string& path, std::string_view bytes);

// Returns the whole file, including pipes and /proc; waits for the writer of a pipe. Throws
// RESOURCE_EXHAUSTED above `limit`.
std::string read_file(const std::string& path, int64_t limit);

}  // namespace penstock
