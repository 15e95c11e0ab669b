#include "base/open_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/error.h"

namespace penstock {
namespace {

[[noreturn]] void fail(std::string_view caller, const std::string& path, Code code,
                       const std::string& what) {
  throw Error(code, std::string(caller) + ": " + path + ": " + what);
}

const char* kind_of(mode_t mode) {
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

}  // namespace

const char* system_path(std::string_view caller, const std::string& path) {
  if (const size_t zero = path.find('\0'); zero != std::string::npos)
    fail(caller, path.substr(0, zero), Code::invalid_argument,
         "the name goes on after a zero byte; no file can be called that");
  return path.c_str();
}

FileDescriptor::~FileDescriptor() {
  if (fd_ >= 0) ::close(fd_);
}

FileDescriptor::FileDescriptor(FileDescriptor&& other) noexcept : fd_(other.release()) {}

FileDescriptor& FileDescriptor::operator=(FileDescriptor&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

int FileDescriptor::release() { return std::exchange(fd_, -1); }

FileDescriptor open_path(std::string_view caller, const std::string& path, int flags, mode_t mode) {
  const char* const name = system_path(caller, path);
  int fd;
  do {
    fd = ::open(name, flags | O_CLOEXEC, mode);
  } while (fd < 0 && errno == EINTR);
  return FileDescriptor(fd);
}

OpenedFile open_regular(std::string_view caller, const std::string& path) {
  // Without O_NONBLOCK, open of a pipe without a writer blocks forever. The flag has no effect on
  // regular files.
  OpenedFile out{open_path(caller, path, O_RDONLY | O_NONBLOCK | O_NOCTTY), {}};
  if (!out.fd.is_open()) {
    if (errno != ENXIO) throw system_error(caller, path, errno);
    fail(caller, path, Code::invalid_argument,
         "not a regular file");  // a socket, or a node without a device
  }
  if (::fstat(out.fd.get(), &out.status) != 0) throw system_error(caller, path, errno);
  if (S_ISDIR(out.status.st_mode)) throw system_error(caller, path, EISDIR);
  if (!S_ISREG(out.status.st_mode)) {
    fail(caller, path, Code::invalid_argument,
         std::string("not a regular file, but ") + kind_of(out.status.st_mode));
  }
  return out;
}

bool size_is_a_guess(int fd, int64_t size) {
  struct stat now;
  return ::fstat(fd, &now) == 0 && now.st_size >= size;
}

}  // namespace penstock
