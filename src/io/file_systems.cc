// File systems by scheme.

#include <algorithm>
#include <map>
#include <mutex>

#include "base/error.h"
#include "base/fork.h"
#include "base/open_file.h"
#include "io/file_system.h"
#include "io/kept_files.h"
#include "io/local_file_system.h"
#include "io/throttle.h"

namespace penstock {
namespace {

constexpr std::string_view kSeparator = "://";

// File systems by scheme; "" is the local one.
struct Registry {
  ForkMutex mutex;
  std::map<std::string, std::unique_ptr<FileSystem>, std::less<>> systems;

  FileSystem* find(std::string_view scheme) {
    const std::lock_guard lock(mutex);
    const auto found = systems.find(scheme);
    return found == systems.end() ? nullptr : found->second.get();
  }
  std::string schemes() {
    const std::lock_guard lock(mutex);
    std::string out = "file://";
    for (const auto& [scheme, files] : systems)
      if (!scheme.empty()) out += ", " + scheme + "://";
    return out;
  }
};

Registry& registry() {
  static auto* all = [] {  // never destroyed: outlives every file
    auto* out = new Registry;
    out->systems[""] = make_local_file_system();
    return out;
  }();
  return *all;
}

// Local names are by far the most frequent: they skip the lock.
FileSystem* local_files() {
  static FileSystem* const local = registry().find("");
  return local;
}

FileSystem* at_current_speed(FileSystem* files) {
  Throttle* const throttle = Throttle::current();
  FileSystem* const at_speed = throttle ? throttle->slowed(files) : files;
  KeptFiles* const kept = KeptFiles::current();
  return kept ? kept->over(files, at_speed) : at_speed;
}

// A local name without its "file://".
std::string local_name(std::string_view caller, const std::string& name) {
  const std::string out = name.substr(4 + kSeparator.size());
  if (!out.starts_with('/')) {
    throw Error(Code::invalid_argument, std::string(caller) + ": " + name +
                                            ": after file:// an absolute path is expected, as in "
                                            "file:///data/train.tfrecord");
  }
  return out;
}

// A folder that is gone meanwhile is not an error.
void list_tree(FileSystem& files, const std::string& folder, std::vector<std::string>* out) {
  try {
    walk_folder(files, folder,
                [out](const std::string& name, FileStatus::Kind) { out->push_back(name); });
  } catch (const Error&) {
  }
}

}  // namespace

std::string_view scheme_of(std::string_view name) {
  const size_t end = name.find(kSeparator);
  if (end == std::string_view::npos || end == 0) return {};
  const auto is_part = [](unsigned char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.';
  };
  return std::ranges::all_of(name.substr(0, end), is_part) ? name.substr(0, end)
                                                           : std::string_view();
}

ResolvedName resolve_name(std::string_view caller, const std::string& name) {
  system_path(caller, name);  // refuses a zero byte, which no file system takes
  const std::string_view scheme = scheme_of(name);
  if (scheme.empty()) return {at_current_speed(local_files()), name};
  if (scheme == "file") return {at_current_speed(local_files()), local_name(caller, name)};
  FileSystem* const files = registry().find(scheme);
  if (!files) {
    throw Error(Code::invalid_argument, std::string(caller) + ": " + name +
                                            ": no file system is known for " + std::string(scheme) +
                                            "://; known are names without a scheme and " +
                                            registry().schemes());
  }
  return {at_current_speed(files), name};
}

void add_file_system(const std::string& scheme, std::unique_ptr<FileSystem> files) {
  const std::lock_guard lock(registry().mutex);
  registry().systems[scheme] = std::move(files);
}

std::vector<FileSystem*> all_file_systems() {
  const std::lock_guard lock(registry().mutex);
  std::vector<FileSystem*> out;
  for (const auto& [scheme, files] : registry().systems) out.push_back(files.get());
  return out;
}

FileStatus file_status(const std::string& name) {
  try {
    const ResolvedName at = resolve_name("open", name);
    return at.files->status(at.name);
  } catch (const Error&) {
    FileStatus out;
    out.kind = FileStatus::Kind::unknown;
    return out;
  }
}

bool make_folder(const std::string& name) {
  const ResolvedName at = resolve_name("write", name);
  return at.files->make_folder(at.name);
}

std::string joined_name(const std::string& folder, const std::string& entry) {
  return folder.ends_with('/') ? folder + entry : folder + "/" + entry;
}

void remove_tree(const std::string& folder) {
  const ResolvedName at = resolve_name("remove", folder);
  std::vector<std::string> names{at.name};
  list_tree(*at.files, at.name, &names);
  // A folder comes before its entries in the list, and must be empty before it goes.
  for (auto name = names.rbegin(); name != names.rend(); ++name) at.files->remove(*name);
}

std::unique_ptr<FileLock> FileSystem::try_lock(const std::string&) {
  return std::make_unique<FileLock>();
}

}  // namespace penstock
