// Files of this machine, by path.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "base/open_file.h"
#include "io/file_system.h"

namespace penstock {

std::unique_ptr<FileSystem> make_local_file_system();

// Reads anything that has a path, pipes and devices too, from front to back.
class LocalStream {
 public:
  // Waits for the writer of a pipe.
  explicit LocalStream(const std::string& path);
  // Fills `out`; returns the bytes read, fewer than requested only at the end.
  int64_t operator()(std::span<std::byte> out, int64_t offset) const;

 private:
  const std::string path_;
  const FileDescriptor fd_;
};

// Makes the writer of a local file: it writes to a temporary name in the same folder, and commit()
// renames it. Replaces the target of a symbolic link.
std::unique_ptr<FileWriter> write_local_file(const std::string& path);
// Removes the temporary files of writers; see FileSystem::discard_unfinished.
void discard_unfinished_local_files();

}  // namespace penstock
