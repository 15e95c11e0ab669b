#include "functions/kernels/parse/file_bytes.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/error.h"

namespace penstock {
namespace {

constexpr int64_t kMostBytes = int64_t{1} << 32;

[[noreturn]] void fail(const std::string& path, Code code, const std::string& what) {
  throw Error(code, "read_file: " + path + ": " + what);
}

class Descriptor {
 public:
  explicit Descriptor(const std::string& path) : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (fd_ < 0) {
      const Error e = system_error("read_file", path, errno);
      throw Error(e.code(), e.message() + "; relative names begin in the working directory");
    }
  }
  ~Descriptor() { ::close(fd_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int fd() const { return fd_; }

 private:
  int fd_;
};

}  // namespace

FileBytes read_file_bytes(const std::string& path) {
  if (const size_t zero = path.find('\0'); zero != std::string::npos)
    fail(path.substr(0, zero), Code::invalid_argument, "the name goes on behind a zero byte");
  const Descriptor file(path);
  struct stat status{};
  if (fstat(file.fd(), &status) != 0) throw system_error("read_file", path, errno);
  if (!S_ISREG(status.st_mode)) fail(path, Code::invalid_argument, "not a regular file");
  const int64_t size = status.st_size;
  if (size > kMostBytes)
    fail(path, Code::resource_exhausted, "has " + std::to_string(size) + " bytes, too many");
  const BufferRef buffer = allocate_buffer(std::max<int64_t>(size, 1));
  int64_t done = 0;
  while (done < size) {
    const ssize_t n =
        ::pread(file.fd(), buffer.data() + done, static_cast<size_t>(size - done), done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw system_error("read_file", path, errno);
    if (n == 0) fail(path, Code::data_loss, "became shorter while it was read");
    done += n;
  }
  return {buffer, size};
}

}  // namespace penstock
