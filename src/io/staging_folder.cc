#include "io/staging_folder.h"

#include <unistd.h>

#include <map>
#include <mutex>

#include "base/error.h"
#include "base/fork.h"
#include "io/file_system.h"

namespace penstock {
namespace {

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

StagingFolder::StagingFolder(const std::string& folder, bool overwrite)
    : folder_(resolve_name("write", folder)),
      path_(folder_.name + "/.tmp-" + std::to_string(::getpid())) {
  made_folder_ = folder_.files->make_folder(folder_.name);
  folder_.files->make_folder(path_);
  std::lock_guard lock(staging().mutex);
  staging().targets[path_] = overwrite ? "" : folder_.name;
}

StagingFolder::~StagingFolder() {
  std::lock_guard lock(staging().mutex);
  staging().targets.erase(path_);
  remove_tree(path_);
  if (made_folder_) folder_.files->remove(folder_.name);  // only if it is empty
}

void StagingFolder::publish() {
  FileSystem& files = *folder_.files;
  walk_folder(files, path_, [&](const std::string& name, FileStatus::Kind kind) {
    const std::string target = target_of(name, path_, folder_.name);
    if (kind == FileStatus::Kind::folder) {
      files.make_folder(target);
    } else {
      check_staged(name);
      files.rename(name, target);
    }
  });
}

void check_staged(const std::string& path) {
  std::lock_guard lock(staging().mutex);
  for (const auto& [staged, folder] : staging().targets) {
    if (folder.empty() || !path.starts_with(staged + "/")) continue;
    const std::string target = target_of(path, staged, folder);
    const ResolvedName at = resolve_name("write", target);
    if (at.files->is_listed(at.name))
      throw Error(Code::already_exists, "write: " + target + ": the file exists");
  }
}

void discard_staging_folders() {
  staging().mutex.lock();  // never unlocked
  for (const auto& [path, folder] : staging().targets) remove_tree(path);
}

}  // namespace penstock
