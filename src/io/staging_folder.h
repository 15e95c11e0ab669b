// Several files that come to be together, or not at all.
#pragma once

#include <string>

namespace penstock {

// A folder inside `folder` for files on their way there. publish() moves them; without it the
// destructor, or a signal that ends the program, leaves nothing behind.
class StagingFolder {
 public:
  // Makes `folder` where there is none. Unless `overwrite`, an AtomicFile in here is refused with
  // ALREADY_EXISTS if `folder` has a file of its name.
  StagingFolder(std::string folder, bool overwrite);
  ~StagingFolder();
  StagingFolder(const StagingFolder&) = delete;
  StagingFolder& operator=(const StagingFolder&) = delete;

  const std::string& path() const { return path_; }
  void publish();

 private:
  const std::string folder_, path_;
  const bool overwrite_;
  bool made_folder_ = false;
};

// Throws ALREADY_EXISTS where `path` lies in a staging folder and its target is taken.
void check_staged(const std::string& path);
// Removes all staging folders: before the process ends on a signal.
void discard_staging_folders();

}  // namespace penstock
