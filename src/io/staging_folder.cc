#include "io/staging_folder.h"

#include <unistd.h>

#include <filesystem>
#include <map>
#include <mutex>

#include "base/error.h"
#include "base/fork.h"
#include "base/open_file.h"

namespace penstock {
namespace {

namespace fs = std::filesystem;

// Staging folders on disk, each with the folder its files go to; "" if files may be replaced.
struct Staging {
  ForkMutex mutex;
  std::map<std::string, std::string> targets;
};

Staging& staging() {
  static auto* all = new Staging;  // never destroyed: outlives every folder
  return *all;
}

// Returns the target of `staged`, which is inside the folder `path`.
std::string target_of(const std::string& staged, const std::string& path,
                      const std::string& folder) {
  return folder + staged.substr(path.size());
}

}  // namespace

StagingFolder::StagingFolder(std::string folder, bool overwrite)
    : folder_(std::move(folder)),
      path_(folder_ + "/.tmp-" + std::to_string(::getpid())),
      overwrite_(overwrite) {
  system_path("write", folder_);
  std::error_code failure;
  made_folder_ = fs::create_directories(folder_, failure);
  if (!failure) fs::create_directory(path_, failure);
  if (failure) throw system_error("make the folder", folder_, failure.value());
  std::lock_guard lock(staging().mutex);
  staging().targets[path_] = overwrite_ ? "" : folder_;
}

StagingFolder::~StagingFolder() {
  std::lock_guard lock(staging().mutex);
  staging().targets.erase(path_);
  std::error_code ignored;
  fs::remove_all(path_, ignored);
  if (made_folder_) fs::remove(folder_, ignored);  // only if it is empty
}

void StagingFolder::publish() {
  std::error_code failure;
  for (const auto& entry : fs::recursive_directory_iterator(path_)) {
    const std::string target = target_of(entry.path().string(), path_, folder_);
    if (entry.is_directory()) {
      fs::create_directories(target, failure);
    } else {
      check_staged(entry.path().string());
      fs::rename(entry.path(), target, failure);
    }
    if (failure) throw system_error("write", target, failure.value());
  }
}

void check_staged(const std::string& path) {
  std::lock_guard lock(staging().mutex);
  for (const auto& [staged, folder] : staging().targets) {
    if (folder.empty() || !path.starts_with(staged + "/")) continue;
    const std::string target = target_of(path, staged, folder);
    std::error_code ignored;
    if (fs::exists(fs::symlink_status(target, ignored)))
      throw Error(Code::already_exists, "write: " + target + ": the file exists");
  }
}

void discard_staging_folders() {
  staging().mutex.lock();  // never unlocked
  std::error_code ignored;
  for (const auto& [path, folder] : staging().targets) fs::remove_all(path, ignored);
}

}  // namespace penstock
