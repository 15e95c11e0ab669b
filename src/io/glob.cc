#include "io/glob.h"

#include <fnmatch.h>

#include <algorithm>
#include <cerrno>

#include "base/error.h"
#include "io/file_system.h"

namespace penstock {
namespace {

using Paths = std::vector<std::string>;
constexpr const char* kWildcards = "*?[\\";

// Paths found, and the first folder that could not be listed.
struct Found {
  Paths paths;
  std::string denied;
};

// Returns an empty list for what is not a folder, or may not be read.
std::vector<FolderEntry> children_of(const std::string& folder, Found* found) {
  const ResolvedName at = resolve_name("list", folder);
  try {
    return at.files->list(at.name);
  } catch (const Error& e) {
    if (e.code() == Code::not_found) return {};
    if (e.code() != Code::permission_denied) throw;
    if (found->denied.empty()) found->denied = folder;
    return {};
  }
}

bool is_listed(const std::string& path) {
  const ResolvedName at = resolve_name("list", path);
  return at.files->is_listed(at.name);
}

// `prefix` is a path, `rest` a pattern that continues it.
void expand(const std::string& prefix, const std::string& rest, Found* found) {
  const size_t wildcard = rest.find_first_of(kWildcards);
  if (wildcard == std::string::npos) {
    if (is_listed(prefix + rest)) found->paths.push_back(prefix + rest);
    return;
  }
  const size_t slash = rest.rfind('/', wildcard);
  const size_t begin = slash == std::string::npos ? 0 : slash + 1;
  const size_t end = std::min(rest.find('/', wildcard), rest.size());
  const std::string folder = prefix + rest.substr(0, begin);
  const std::string name_pattern = rest.substr(begin, end - begin);
  for (const FolderEntry& entry : children_of(folder, found)) {
    const std::string& name = entry.name;
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
  if (patterns.empty()) throw Error(Code::not_found, "no file patterns are given");
  Found found;
  std::string without;
  for (const std::string& pattern : patterns) {
    const size_t before = found.paths.size();
    const bool has_folder =
        pattern.substr(0, pattern.find_first_of(kWildcards)).find('/') != std::string::npos;
    resolve_name("list", pattern);  // refuses a zero byte before fnmatch gets it
    if (!pattern.empty()) expand("", has_folder ? pattern : "./" + pattern, &found);
    if (found.paths.size() == before) without += (without.empty() ? "\"" : ", \"") + pattern + "\"";
  }
  if (!without.empty() && !found.denied.empty()) throw system_error("list", found.denied, EACCES);
  if (!without.empty()) throw Error(Code::not_found, "no file matches " + without);
  std::ranges::sort(found.paths);
  return std::move(found.paths);
}

}  // namespace penstock
