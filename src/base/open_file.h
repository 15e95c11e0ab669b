// Files by name. Every system call that takes a name gets it from system_path(), so that a name
// cannot mean another file than it says.
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

// open(2) with O_CLOEXEC, tried again after EINTR; not open, with errno set, where it fails.
FileDescriptor open_path(std::string_view caller, const std::string& path, int flags,
                         mode_t mode = 0);

// A regular file open for reading.
struct OpenedFile {
  FileDescriptor fd;
  struct stat status;
};
// Never waits for the other end of a pipe. Throws what system_error says, FAILED_PRECONDITION for a
// folder, INVALID_ARGUMENT for a pipe, a device or a socket.
OpenedFile open_regular(std::string_view caller, const std::string& path);

// The bytes of a file from its beginning, also where the file system does not know their number:
// files of /proc have size 0, those of /sys are shorter than their size. Throws RESOURCE_EXHAUSTED
// beyond `limit` bytes, DATA_LOSS where the file is cut in the meantime.
std::string read_regular(std::string_view caller, const std::string& path, int64_t limit);

// True where fewer bytes than `size` are no loss: the file never had them (/sys).
bool size_is_a_guess(int fd, int64_t size);

}  // namespace penstock
