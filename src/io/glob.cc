#include "io/glob.h"

#include <dirent.h>
#include <fnmatch.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <memory>

#include "base/error.h"
#include "base/open_file.h"

namespace penstock {
namespace {

using Paths = std::vector<std::string>;
constexpr const char* kWildcards = "*?[\\";

struct CloseDirectory {
  void operator()(DIR* directory) const { ::closedir(directory); }
};

// Paths found, and the first folder that could not be listed.
struct Found {
  Paths paths;
  std::string denied;
};

Paths children_of(const std::string& folder, Found* found) {
  const std::unique_ptr<DIR, CloseDirectory> directory(::opendir(system_path("list", folder)));
  if (!directory) {
    if (errno == ENOENT || errno == ENOTDIR) return {};
    if (errno == EACCES || errno == EPERM) {
      if (found->denied.empty()) found->denied = folder;
      return {};
    }
    throw system_error("list", folder, errno);
  }
  Paths out;
  for (;;) {
    errno = 0;
    const dirent* entry = ::readdir(directory.get());
    if (!entry) break;
    const std::string name = entry->d_name;
    if (name != "." && name != "..") out.push_back(name);
  }
  if (errno != 0) throw system_error("list", folder, errno);
  return out;
}

bool exists(const std::string& path) {
  struct stat status;
  return ::lstat(system_path("list", path), &status) == 0;
}

// `prefix` is a path, `rest` a pattern that continues it.
void expand(const std::string& prefix, const std::string& rest, Found* found) {
  const size_t wildcard = rest.find_first_of(kWildcards);
  if (wildcard == std::string::npos) {
    if (exists(prefix + rest)) found->paths.push_back(prefix + rest);
    return;
  }
  const size_t slash = rest.rfind('/', wildcard);
  const size_t begin = slash == std::string::npos ? 0 : slash + 1;
  const size_t end = std::min(rest.find('/', wildcard), rest.size());
  const std::string folder = prefix + rest.substr(0, begin);
  const std::string name_pattern = rest.substr(begin, end - begin);
  for (const std::string& name : children_of(folder, found)) {
    if (::fnmatch(system_path("list", name_pattern), name.c_str(), 0) != 0) continue;
    if (end == rest.size()) {
      found->paths.push_back(folder + name);
    } else {
      expand(folder + name, rest.substr(end), found);
    }
  }
}

}  // namespace

std::vector<std::string> match_files(const std::vector<std::string>& patterns) {
  if (patterns.empty()) throw Error(Code::not_found, "no file patterns are given");
  Found found;
  std::string without;
  for (const std::string& pattern : patterns) {
    const size_t before = found.paths.size();
    const bool has_folder =
        pattern.substr(0, pattern.find_first_of(kWildcards)).find('/') != std::string::npos;
    if (!pattern.empty()) expand("", has_folder ? pattern : "./" + pattern, &found);
    if (found.paths.size() == before) without += (without.empty() ? "\"" : ", \"") + pattern + "\"";
  }
  if (!without.empty() && !found.denied.empty()) throw system_error("list", found.denied, EACCES);
  if (!without.empty()) throw Error(Code::not_found, "no file matches " + without);
  std::ranges::sort(found.paths);
  return std::move(found.paths);
}

}  // namespace penstock
