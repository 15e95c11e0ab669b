// Files: reading at offsets, and writing that leaves a whole file or none.
//
// All calls block. Errors come as system_error: "open: train.tfrecord: No such file or directory".
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
  // FAILED_PRECONDITION (a folder) or INVALID_ARGUMENT (a pipe, device or socket: it waits for
  // none).
  explicit File(std::string path);

  // Fills `out` from `offset` on; returns the bytes read, fewer than asked for only at the end.
  int64_t pread(std::span<std::byte> out, int64_t offset) const;
  // Bytes when it was opened; 0 for files of /proc, whatever they hold.
  int64_t size() const { return opened_.status.st_size; }
  // True where a read that ends before size() has lost nothing: files of /sys.
  bool size_is_a_guess() const { return penstock::size_is_a_guess(opened_.fd.get(), size()); }
  // Tells the system that the file will be read from front to back.
  void expect_sequential_reads() const;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  OpenedFile opened_;
};

// A file that comes to be at commit(), under a temporary name in the same folder before; without
// commit() the destructor leaves nothing behind. For one thread.
class AtomicFile {
 public:
  // Through a symbolic link the file behind it is replaced. INVALID_ARGUMENT for what is there and
  // no regular file: a device would be replaced by a file.
  explicit AtomicFile(std::string path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void append(std::string_view bytes);
  // Syncs to the disk and renames over `path`. Call at most once, and nothing after it.
  void commit();
  int64_t bytes() const { return bytes_; }

 private:
  std::string path_;
  std::string temporary_;
  int fd_ = -1;
  int64_t bytes_ = 0;
};

// Removes what AtomicFiles not committed have on the disk and stops every thread that makes or
// commits one from now on: call it before the process ends on a signal.
void discard_unfinished_files();

// Replaces `path` by a file of these bytes, or throws and leaves it as it was; a full disk is
// RESOURCE_EXHAUSTED.
void write_file_atomically(const std::string& path, std::string_view bytes);

// The whole file, pipes and /proc included: it waits for the writer of a pipe. RESOURCE_EXHAUSTED
// when it holds more than `limit`.
std::string read_file(const std::string& path, int64_t limit);

}  // namespace penstock
