// Local files that appear whole or not at all.

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <mutex>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/fork.h"
#include "base/open_file.h"
#include "io/local_file_system.h"

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
std::string target_path(const std::string& path) {
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

class LocalWriter final : public FileWriter {
 public:
  explicit LocalWriter(const std::string& path) : path_(target_path(path)) {
    static std::atomic<int> counter{0};
    std::lock_guard lock(unfinished().mutex);
    do {
      temporary_ = path_ + ".tmp-" + std::to_string(::getpid()) + "-" + std::to_string(counter++);
      fd_ = open_path("write", temporary_, O_WRONLY | O_CREAT | O_EXCL, 0666).release();
    } while (fd_ < 0 && errno == EEXIST);  // left by a killed process with the same number
    if (fd_ < 0) throw system_error("write", path_, errno);
    unfinished().names.insert(temporary_);
  }

  ~LocalWriter() override {
    if (fd_ >= 0) ::close(fd_);
    if (temporary_.empty()) return;
    std::lock_guard lock(unfinished().mutex);
    ::unlink(temporary_.c_str());
    unfinished().names.erase(temporary_);
  }
  LocalWriter(const LocalWriter&) = delete;
  LocalWriter& operator=(const LocalWriter&) = delete;

  void append(std::string_view bytes) override {
    while (!bytes.empty()) {
      const ssize_t put = ::write(fd_, bytes.data(), bytes.size());
      if (put < 0 && errno == EINTR) continue;
      if (put < 0) throw system_error("write", path_, errno);
      bytes.remove_prefix(static_cast<size_t>(put));
    }
  }

  void commit() override {
    if (::fsync(fd_) != 0) throw system_error("write", path_, errno);
    // Some file systems report a full disk only here.
    if (::close(std::exchange(fd_, -1)) != 0) throw system_error("write", path_, errno);
    {
      std::lock_guard lock(unfinished().mutex);
      if (::rename(temporary_.c_str(), path_.c_str()) != 0)
        throw system_error("write", path_, errno);
      unfinished().names.erase(temporary_);
      temporary_.clear();
    }
    sync_folder_of(path_);
  }

 private:
  std::string path_;
  std::string temporary_;
  int fd_ = -1;
};

}  // namespace

std::unique_ptr<FileWriter> write_local_file(const std::string& path) {
  return std::make_unique<LocalWriter>(path);
}

void discard_unfinished_local_files() {
  unfinished().mutex.lock();  // never unlocked
  for (const std::string& name : unfinished().names) ::unlink(name.c_str());
}

}  // namespace penstock
