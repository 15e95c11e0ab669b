// Files that stay in memory once they were read: storage that costs nothing, to measure all else.
//
// A run that reads its files a second time gets them from memory, without an open, a wait or a read
// of the storage; bytes beyond the room are read again. Files are taken for unchanged meanwhile.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "io/file_system.h"

namespace penstock {

// Thread-safe. While it lives, every file that this process opens for reading is kept, whichever
// run opens it. REQUIRES no other one; and no file open when it ends that was opened after it.
class KeptFiles {
 public:
  explicit KeptFiles(int64_t room_bytes);
  ~KeptFiles();
  KeptFiles(const KeptFiles&) = delete;
  KeptFiles& operator=(const KeptFiles&) = delete;

  // Returns a file system with the files of `files`, kept, which are read through `at_speed`: the
  // same or one around it. It lives as long as this object, and is used only while `at_speed` is.
  FileSystem* over(FileSystem* files, FileSystem* at_speed);

  // Reads go straight to storage until the next keep(true).
  void keep(bool on) { on_.store(on, std::memory_order_relaxed); }
  bool is_on() const { return on_.load(std::memory_order_relaxed); }

  int64_t kept_bytes() const { return kept_.load(std::memory_order_relaxed); }
  // Bytes that came from storage, and from memory, since the last count_anew().
  int64_t read_bytes() const { return read_.load(std::memory_order_relaxed); }
  int64_t served_bytes() const { return served_.load(std::memory_order_relaxed); }
  bool is_full() const { return full_.load(std::memory_order_relaxed); }
  void count_anew();
  // Returns the names of all files that were opened and kept, as their file systems know them.
  std::vector<std::string> names();

  // Bytes of one piece, which is read and kept as a whole.
  static constexpr int64_t kPiece = 1 << 20;

  // Returns null if no object of the class lives.
  static KeptFiles* current();

 private:
  friend class KeptFile;
  friend class KeptFileSystem;
  struct Content;

  // Returns false when the room is used up.
  bool take_room(int64_t bytes);

  // Returns what is known of a file; null if it was never opened.
  std::shared_ptr<Content> find(FileSystem* files, const std::string& name);
  // Returns what others know of it if they were first.
  std::shared_ptr<Content> add(FileSystem* files, const std::string& name,
                               std::shared_ptr<Content> content);

  const int64_t room_;
  std::atomic<bool> on_{true}, full_{false};
  std::atomic<int64_t> kept_{0}, read_{0}, served_{0};
  std::mutex mutex_;
  std::map<std::pair<FileSystem*, FileSystem*>, std::unique_ptr<FileSystem>> systems_;
  std::map<std::pair<FileSystem*, std::string>, std::shared_ptr<Content>> contents_;
};

}  // namespace penstock
