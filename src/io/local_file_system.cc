#include "io/local_file_system.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <map>
#include <mutex>
#include <tuple>

#include "base/error.h"
#include "base/fork.h"
#include "base/open_file.h"
#include "io/steady_read.h"

namespace penstock {
namespace {

FileStatus status_of(const struct stat& s) {
  constexpr int64_t kSecond = 1'000'000'000;
  FileStatus out;
  out.kind = S_ISREG(s.st_mode)   ? FileStatus::Kind::file
             : S_ISDIR(s.st_mode) ? FileStatus::Kind::folder
                                  : FileStatus::Kind::other;
  out.bytes = s.st_size;
  out.time_ns = s.st_mtim.tv_sec * kSecond + s.st_mtim.tv_nsec;
  return out;
}

class LocalFile final : public RandomAccessFile {
 public:
  LocalFile(OpenedFile opened, const std::string& path)
      : RandomAccessFile(status_of(opened.status)), opened_(std::move(opened)), path_(path) {}

  int64_t read(std::span<std::byte> out, int64_t offset) const override {
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

  bool size_is_a_guess() const override {
    return penstock::size_is_a_guess(opened_.fd.get(), status().bytes);
  }

  void expect_sequential_reads() const override {
    ::posix_fadvise(opened_.fd.get(), 0, 0, POSIX_FADV_SEQUENTIAL);
  }

  // Keeps one mapping of each file as it is now: elements may point into it.
  const std::byte* map() const override {
    using Key = std::tuple<dev_t, ino_t, int64_t, int64_t>;
    static auto* mutex = new ForkMutex;
    static auto* mappings = new std::map<Key, const std::byte*>;
    const struct stat& s = opened_.status;
    const std::lock_guard lock(*mutex);
    const std::byte*& at = (*mappings)[{s.st_dev, s.st_ino, status().bytes, status().time_ns}];
    if (at || status().bytes == 0) return at;
    void* memory = ::mmap(nullptr, static_cast<size_t>(status().bytes), PROT_READ, MAP_SHARED,
                          opened_.fd.get(), 0);
    if (memory == MAP_FAILED) throw system_error("map", path_, errno);
    return at = static_cast<const std::byte*>(memory);
  }

 private:
  const OpenedFile opened_;
  const std::string path_;
};

// A lock of flock(2); its file goes with it.
class LocalLock final : public FileLock {
 public:
  LocalLock(FileDescriptor fd, std::string path) : fd_(std::move(fd)), path_(std::move(path)) {}
  ~LocalLock() override { ::unlink(path_.c_str()); }
  LocalLock(const LocalLock&) = delete;
  LocalLock& operator=(const LocalLock&) = delete;

 private:
  FileDescriptor fd_;
  std::string path_;
};

FileStatus::Kind kind_of(const dirent& entry) {
  switch (entry.d_type) {
    case DT_REG: return FileStatus::Kind::file;
    case DT_DIR: return FileStatus::Kind::folder;
    case DT_LNK: return FileStatus::Kind::link;
    case DT_UNKNOWN: return FileStatus::Kind::unknown;
    default: return FileStatus::Kind::other;
  }
}

// Asks for a kind that the list does not have: some file systems leave it out.
FileStatus::Kind kind_of(const std::string& path) {
  struct stat s;
  if (::lstat(path.c_str(), &s) != 0) return FileStatus::Kind::unknown;
  return S_ISLNK(s.st_mode) ? FileStatus::Kind::link : status_of(s).kind;
}

struct CloseDirectory {
  void operator()(DIR* directory) const { ::closedir(directory); }
};

class LocalFileSystem final : public FileSystem {
 public:
  std::unique_ptr<RandomAccessFile> open(std::string_view caller,
                                         const std::string& path) override {
    return std::make_unique<LocalFile>(open_regular(caller, path), path);
  }

  FileStatus status(const std::string& path) override {
    FileStatus out;
    out.kind = FileStatus::Kind::unknown;
    if (path.find('\0') != std::string::npos) return out;
    struct stat s;
    if (::stat(path.c_str(), &s) == 0) return status_of(s);
    if (errno == ENOENT) out.kind = FileStatus::Kind::missing;
    return out;
  }

  bool is_listed(const std::string& path) override {
    struct stat s;
    return ::lstat(system_path("list", path), &s) == 0;
  }

  std::vector<FolderEntry> list(const std::string& folder) override {
    const std::unique_ptr<DIR, CloseDirectory> directory(
        ::opendir(folder.empty() ? "." : system_path("list", folder)));
    if (!directory) throw system_error("list", folder, errno);
    std::vector<FolderEntry> out;
    for (;;) {
      errno = 0;
      const dirent* entry = ::readdir(directory.get());
      if (!entry) break;
      const std::string name = entry->d_name;
      if (name == "." || name == "..") continue;
      FileStatus::Kind kind = kind_of(*entry);
      if (kind == FileStatus::Kind::unknown) kind = kind_of(folder + "/" + name);
      out.push_back({name, kind});
    }
    if (errno != 0) throw system_error("list", folder, errno);
    return out;
  }

  std::unique_ptr<FileWriter> write(const std::string& path) override {
    return write_local_file(path);
  }

  bool remove(const std::string& path) override {
    return std::remove(system_path("remove", path)) == 0 || errno == ENOENT;
  }

  void rename(const std::string& from, const std::string& to) override {
    if (std::rename(system_path("write", from), system_path("write", to)) != 0)
      throw system_error("write", to, errno);
  }

  bool make_folder(const std::string& path) override {
    std::error_code failure;
    const bool made = std::filesystem::create_directories(system_path("write", path), failure);
    if (failure) throw system_error("make the folder", path, failure.value());
    return made;
  }

  void touch(const std::string& path) override {
    ::utimensat(AT_FDCWD, system_path("write", path), nullptr, 0);
  }

  std::unique_ptr<FileLock> try_lock(const std::string& path) override {
    FileDescriptor fd = open_path("write", path, O_RDWR | O_CREAT, 0666);
    if (!fd.is_open()) throw system_error("write", path, errno);
    if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) return nullptr;
    return std::make_unique<LocalLock>(std::move(fd), path);
  }

  void discard_unfinished() override { discard_unfinished_local_files(); }
};

}  // namespace

LocalStream::LocalStream(const std::string& path)
    : path_(path), fd_(open_path("open", path, O_RDONLY)) {
  if (!fd_.is_open()) throw system_error("open", path, errno);
}

int64_t LocalStream::operator()(std::span<std::byte> out, int64_t) const {
  size_t done = 0;
  while (done < out.size()) {
    const ssize_t got = ::read(fd_.get(), out.data() + done, out.size() - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw system_error("read", path_, errno);
    if (got == 0) break;
    done += static_cast<size_t>(got);
  }
  return static_cast<int64_t>(done);
}

std::unique_ptr<FileSystem> make_local_file_system() { return std::make_unique<LocalFileSystem>(); }

}  // namespace penstock
