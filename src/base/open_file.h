// Opens local files by path, for the local file system (io/file_system.h is the door for all
// others). Every system call that takes a path gets it from system_path(), so that a path cannot
// denote another file than it spells.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace penstock {

// Returns `path` as system calls take it; it lives as long as `path`. Throws INVALID_ARGUMENT if it
// holds a zero byte, because a system call would use the part before it. `caller` begins the
// message.
const char* system_path(std::string_view caller, const std::string& path);

// Owns a file descriptor and closes it.
class FileDescriptor {
 public:
  explicit FileDescriptor(int fd) : fd_(fd) {}
  ~FileDescriptor();
  FileDescriptor(FileDescriptor&& other) noexcept;
  FileDescriptor& operator=(FileDescriptor&& other) noexcept;

  int get() const { return fd_; }
  bool is_open() const { return fd_ >= 0; }
  // Hands the descriptor to the caller, who closes it.
  int release();

 private:
  int fd_;
};

// Calls open(2) with O_CLOEXEC and retries after EINTR. If it fails the result is not open and
// errno is set.
FileDescriptor open_path(std::string_view caller, const std::string& path, int flags,
                         mode_t mode = 0);

// A regular file open for reading.
struct OpenedFile {
  FileDescriptor fd;
  struct stat status;
};
// Opens a regular file without ever waiting for the other end of a pipe. Throws what system_error
// returns, FAILED_PRECONDITION for a folder, INVALID_ARGUMENT for a pipe, a device or a socket.
OpenedFile open_regular(std::string_view caller, const std::string& path);

// Returns true if fewer bytes than `size` are not a loss: the file never had them (/sys).
bool size_is_a_guess(int fd, int64_t size);

}  // namespace penstock
