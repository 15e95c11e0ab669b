// The one door to storage: the calls of a file system, and which file system a name belongs to.
//
// A name is "SCHEME://rest", or a local path if it has no scheme ("file://" means local, too). Code
// outside of src/io opens, measures and lists files only through these functions and io/file.h, and
// assumes nothing of a name but that '/' separates folders. HACKING says how to add a file system.
//
// All calls block, so run them on an I/O thread. File systems and open files are thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace penstock {

// Facts about a name that are known without opening it.
struct FileStatus {
  enum class Kind : uint8_t {
    missing,  // nothing has this name
    unknown,  // the file system does not tell: no permission, no connection, an impossible name
    file,
    folder,
    link,   // in lists only: status() follows links
    other,  // a pipe, device or socket
  };
  Kind kind = Kind::missing;
  int64_t bytes = 0;
  int64_t time_ns = 0;  // of the last change; 0 if the file system keeps none
  std::string etag;     // the file system's own name for this content; empty if it has none

  bool is_file() const { return kind == Kind::file; }
  bool is_folder() const { return kind == Kind::folder; }
  bool exists() const { return kind != Kind::missing && kind != Kind::unknown; }
};

struct FolderEntry {
  std::string name;  // within the folder
  FileStatus::Kind kind = FileStatus::Kind::unknown;
};

// A file open for reading.
class RandomAccessFile {
 public:
  virtual ~RandomAccessFile() = default;

  // Fills `out` from `offset`; returns the bytes read, fewer than requested only at the end. Any
  // number of reads may be in flight. Throws "read: NAME: reason".
  virtual int64_t read(std::span<std::byte> out, int64_t offset) const = 0;
  // Status when it was opened. Files of /proc have size 0, whatever they contain.
  const FileStatus& status() const { return status_; }
  // Returns true if a read that ends before the size has lost nothing: files of /sys.
  virtual bool size_is_a_guess() const { return false; }
  // Returns how many reads a reader should have in flight; more than 1 where storage is slow to
  // answer but serves several reads at once.
  virtual int reads_in_flight() const { return 1; }
  // Tells the file system to expect reads from front to back.
  virtual void expect_sequential_reads() const {}
  // Returns the file's bytes mapped until the process ends, or null if the file system cannot map.
  virtual const std::byte* map() const { return nullptr; }

 protected:
  explicit RandomAccessFile(FileStatus status) : status_(std::move(status)) {}

 private:
  const FileStatus status_;
};

// A file that appears whole at commit(); without it the destructor discards the bytes. For one
// thread.
class FileWriter {
 public:
  virtual ~FileWriter() = default;
  virtual void append(std::string_view bytes) = 0;
  // Makes the file durable and visible under its name. Call it at most once, and nothing after it.
  virtual void commit() = 0;
};

// Held by one process at a time.
class FileLock {
 public:
  virtual ~FileLock() = default;
};

// Names have the scheme that the file system is registered under; those of the local file system
// have none. Errors say "CALLER: NAME: reason"; where no caller is given, "list", "write" or
// "remove".
class FileSystem {
 public:
  virtual ~FileSystem() = default;

  // Throws NOT_FOUND, PERMISSION_DENIED, RESOURCE_EXHAUSTED (too many open files),
  // FAILED_PRECONDITION (a folder) or INVALID_ARGUMENT (a pipe, device or socket; does not wait for
  // it).
  virtual std::unique_ptr<RandomAccessFile> open(std::string_view caller,
                                                 const std::string& name) = 0;
  // Follows links. Never throws for a name.
  virtual FileStatus status(const std::string& name) = 0;
  // Returns true if a list of its folder would have the name; a link counts even if its target does
  // not exist.
  virtual bool is_listed(const std::string& name) { return status(name).exists(); }
  // Returns the names in a folder, in any order. Throws NOT_FOUND if there is no such folder,
  // PERMISSION_DENIED if it may not be read.
  virtual std::vector<FolderEntry> list(const std::string& folder) = 0;
  // Throws INVALID_ARGUMENT if the name exists and is not a regular file.
  virtual std::unique_ptr<FileWriter> write(const std::string& name) = 0;
  // Removes a file, or an empty folder; does nothing if it does not exist. Returns false if it is
  // still there.
  virtual bool remove(const std::string& name) = 0;
  // Replaces `to`.
  virtual void rename(const std::string& from, const std::string& to) = 0;
  // Makes the folder and those above it; returns false if it existed. File systems without folders
  // do nothing.
  virtual bool make_folder(const std::string& name) = 0;
  // Marks a file as used now, for caches that drop what was unused longest: sets time_ns.
  virtual void touch(const std::string&) {}
  // Returns a lock that ends with its process at the latest, null if another one holds it. Without
  // locks, two processes that write the same name do the work twice: the last to commit wins.
  virtual std::unique_ptr<FileLock> try_lock(const std::string& name);
  // Discards the files of writers that have not committed, and blocks every thread that makes or
  // commits one from now on. Called before the process ends on a signal.
  virtual void discard_unfinished() {}

  // Returns the kind of an entry's target if the entry is a link, else `kind`.
  FileStatus::Kind kind_behind(const std::string& name, FileStatus::Kind kind) {
    return kind == FileStatus::Kind::link ? status(name).kind : kind;
  }
};

// Returns the scheme of "s3://bucket/x", "s3"; empty for a local name.
std::string_view scheme_of(std::string_view name);

// A file system, and the name as that file system knows it.
struct ResolvedName {
  FileSystem* files = nullptr;
  std::string name;
};
// Throws INVALID_ARGUMENT if no file system is registered for the name's scheme, or if the name
// holds a zero byte; `caller` begins the message.
ResolvedName resolve_name(std::string_view caller, const std::string& name);
// Registers a file system for the rest of the process. Call before the first use of its names.
void add_file_system(const std::string& scheme, std::unique_ptr<FileSystem> files);
std::vector<FileSystem*> all_file_systems();

// The calls of FileSystem by full name. Kind::unknown if the scheme is.
FileStatus file_status(const std::string& name);
bool make_folder(const std::string& name);
// Removes a folder with everything in it; what cannot be removed stays.
void remove_tree(const std::string& folder);
// Returns the name of a folder's entry.
std::string joined_name(const std::string& folder, const std::string& entry);
// Calls f(name, kind) for all entries below a folder, subfolders included, links not followed.
// Throws what list() throws.
template <typename F>
void walk_folder(FileSystem& files, const std::string& folder, const F& f) {
  for (const FolderEntry& entry : files.list(folder)) {
    const std::string name = joined_name(folder, entry.name);
    f(name, entry.kind);
    if (entry.kind == FileStatus::Kind::folder) walk_folder(files, name, f);
  }
}

}  // namespace penstock
