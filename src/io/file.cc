#include "io/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <filesystem>
#include <mutex>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/fork.h"
#include "base/open_file.h"
#include "io/staging_folder.h"
#include "io/steady_read.h"

namespace penstock {
namespace {

// Names of temporary files that exist on disk.
struct Unfinished {
  ForkMutex mutex;
  std::set<std::string> names;
};

Unfinished& unfinished() {
  static auto* all = new Unfinished;  // never destroyed: outlives every file
  return *all;
}

// Returns the path at which a file of this name would be written.
std::string place_of(const std::string& path) {
  system_path("write", path);
  std::error_code ignored;
  const auto status = std::filesystem::status(path, ignored);
  if (!std::filesystem::exists(status)) return path;
  if (std::filesystem::is_directory(status)) throw system_error("write", path, EISDIR);
  if (!std::filesystem::is_regular_file(status))
    throw Error(Code::invalid_argument, "write: " + path + ": not a regular file");
  if (!std::filesystem::is_symlink(path, ignored)) return path;
  const auto target = std::filesystem::canonical(path, ignored);
  return ignored ? path : target.string();
}

// A rename is durable only after its folder is synced.
void sync_folder_of(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  const FileDescriptor fd =
      open_path("write", folder.empty() ? std::string(1, '.') : folder, O_RDONLY | O_DIRECTORY);
  // Ignore a folder that cannot be opened: the file itself is complete.
  if (fd.is_open()) ::fsync(fd.get());
}

}  // namespace

File::File(std::string path) : path_(std::move(path)), opened_(open_regular("open", path_)) {}

int64_t File::pread(std::span<std::byte> out, int64_t offset) const {
  size_t done = 0;
  while (done < out.size()) {
    const ssize_t got =
        steady_pread(opened_.fd.get(), out.subspan(done), offset + static_cast<int64_t>(done));
    if (got < 0) throw system_error("read", path_, errno);
    if (got == 0) break;
    done += static_cast<size_t>(got);
  }
  return static_cast<int64_t>(done);
}

void File::expect_sequential_reads() const {
  ::posix_fadvise(opened_.fd.get(), 0, 0, POSIX_FADV_SEQUENTIAL);
}

AtomicFile::AtomicFile(std::string path) : path_(place_of(path)) {
  check_staged(path_);
  static std::atomic<int> counter{0};
  std::lock_guard lock(unfinished().mutex);
  do {
    temporary_ = path_ + ".tmp-" + std::to_string(::getpid()) + "-" + std::to_string(counter++);
    fd_ = open_path("write", temporary_, O_WRONLY | O_CREAT | O_EXCL, 0666).release();
  } while (fd_ < 0 && errno == EEXIST);  // left by a killed process with the same number
  if (fd_ < 0) throw system_error("write", path_, errno);
  unfinished().names.insert(temporary_);
}

AtomicFile::~AtomicFile() {
  if (fd_ >= 0) ::close(fd_);
  if (temporary_.empty()) return;
  std::lock_guard lock(unfinished().mutex);
  ::unlink(temporary_.c_str());
  unfinished().names.erase(temporary_);
}

void AtomicFile::append(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t put = ::write(fd_, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) throw system_error("write", path_, errno);
    bytes.remove_prefix(static_cast<size_t>(put));
    bytes_ += put;
  }
}

void AtomicFile::commit() {
  if (::fsync(fd_) != 0) throw system_error("write", path_, errno);
  // Some file systems report a full disk only here.
  if (::close(std::exchange(fd_, -1)) != 0) throw system_error("write", path_, errno);
  {
    std::lock_guard lock(unfinished().mutex);
    if (::rename(temporary_.c_str(), path_.c_str()) != 0) throw system_error("write", path_, errno);
    unfinished().names.erase(temporary_);
    temporary_.clear();
  }
  sync_folder_of(path_);
}

void discard_unfinished_files() {
  unfinished().mutex.lock();  // never unlocked
  for (const std::string& name : unfinished().names) ::unlink(name.c_str());
  discard_staging_folders();
}

void write_file_atomically(const std::string& path, std::string_view bytes) {
  AtomicFile file(path);
  file.append(bytes);
  file.commit();
}

std::string read_file(const std::string& path, int64_t limit) {
  const FileDescriptor file = open_path("open", path, O_RDONLY);
  if (!file.is_open()) throw system_error("open", path, errno);
  struct stat status;
  if (::fstat(file.get(), &status) != 0) throw system_error("open", path, errno);
  std::string out;
  size_t done = 0;
  for (;;) {
    // One byte more than the file's size detects its end without another read.
    const auto expected = static_cast<size_t>(std::min<int64_t>(status.st_size, limit)) + 1;
    out.resize(std::max({expected, done + 4096, done * 3 / 2}));
    const ssize_t got = ::read(file.get(), out.data() + done, out.size() - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw system_error("read", path, errno);
    if (got == 0) break;
    done += static_cast<size_t>(got);
    if (static_cast<int64_t>(done) > limit) {
      throw Error(Code::resource_exhausted,
                  "read: " + path + ": it holds more than " + std::to_string(limit) + " bytes");
    }
  }
  out.resize(done);
  return out;
}

}  // namespace penstock
