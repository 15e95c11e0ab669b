#include "io/glob.h"

#include <dirent.h>
#include <fnmatch.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <memory>

#include "base/error.h"

namespace penstock {
namespace {

using Paths = std::vector<std::string>;
constexpr const char* kWildcards = "*?[\\";

struct CloseDirectory {
  void operator()(DIR* directory) const { ::closedir(directory); }
};

// What was found, and the first folder that could not be looked into.
struct Found {
  Paths paths;
  std::string denied;
};

Paths children_of(const std::string& folder, Found* found) {
  const std::unique_ptr<DIR, CloseDirectory> directory(::opendir(folder.c_str()));
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
  return ::lstat(path.c_str(), &status) == 0;
}

// `prefix` is a path, `rest` a pattern that goes on from it.
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
    if (::fnmatch(name_pattern.c_str(), name.c_str(), 0) != 0) continue;
    if (end == rest.size()) {
      found->paths.push_back(folder + name);
    } else {
      expand(folder + name, rest.substr(end), found);
    }
  }
}

}  // namespace

std::vector<std::string> match_files(const std::vector<std::string>& patterns) {
  Found found;
  Paths& out = found.paths;
  std::string names;
  for (const std::string& pattern : patterns) {
    names += (names.empty() ? "\"" : ", \"") + pattern + "\"";
    if (pattern.empty()) continue;
    const bool has_folder =
        pattern.substr(0, pattern.find_first_of(kWildcards)).find('/') != std::string::npos;
    expand("", has_folder ? pattern : "./" + pattern, &found);
  }
  if (out.empty() && !found.denied.empty()) throw system_error("list", found.denied, EACCES);
  if (out.empty()) {
    throw Error(Code::not_found,
                names.empty() ? "no file patterns are given" : "no file matches " + names);
  }
  std::ranges::sort(out);
  return out;
}

}  // namespace penstock
