// Several files that appear together or not at all.
#pragma once

#include <string>

#include "io/file_system.h"

namespace penstock {

// A folder inside `folder` for unfinished files. publish() moves them to `folder`; without it the
// destructor, or a signal that ends the program, removes them.
class StagingFolder {
 public:
  // Makes `folder` if missing. Unless `overwrite`, an AtomicFile in the staging folder fails with
  // ALREADY_EXISTS if `folder` has a file of its name.
  StagingFolder(const std::string& folder, bool overwrite);
  ~StagingFolder();
  StagingFolder(const StagingFolder&) = delete;
  StagingFolder& operator=(const StagingFolder&) = delete;

  const std::string& path() const { return path_; }
  void publish();

 private:
  const ResolvedName folder_;
  const std::string path_;
  bool made_folder_ = false;
};

// Throws ALREADY_EXISTS if `path` is in a staging folder and its target exists.
void check_staged(const std::string& path);
// Removes all staging folders. Call it before the process ends on a signal.
void discard_staging_folders();

}  // namespace penstock
