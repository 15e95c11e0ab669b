#include "job/attach_directory.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace penstock {
namespace {

constexpr std::string_view kSuffix = ".sock";

// Programs with more rights than their caller do not listen to the caller's environment.
std::string variable(const char* name) {
  const char* const value = secure_getenv(name);
  return value ? value : "";
}

std::string temporary_directory() { return "/tmp/penstock-" + std::to_string(geteuid()); }

}  // namespace

bool attach_is_wanted() { return variable("PENSTOCK_ATTACH") != "0"; }

std::vector<std::string> attach_directories() {
  const std::string given = variable("PENSTOCK_ATTACH");
  if (given.starts_with('/')) return {given};
  std::vector<std::string> out;
  if (const std::string runtime = variable("XDG_RUNTIME_DIR"); runtime.starts_with('/'))
    out.push_back(runtime + "/penstock");
  // A session without the variable (cron, some ssh) asks jobs of sessions that have it.
  const std::string usual = "/run/user/" + std::to_string(geteuid()) + "/penstock";
  if (std::ranges::find(out, usual) == out.end()) out.push_back(usual);
  out.push_back(temporary_directory());
  return out;
}

std::optional<std::string> make_attach_directory() {
  std::vector<std::string> candidates = {temporary_directory()};
  if (const std::string given = variable("PENSTOCK_ATTACH"); given.starts_with('/')) {
    candidates = {given};
  } else if (const std::string runtime = variable("XDG_RUNTIME_DIR"); runtime.starts_with('/')) {
    candidates.insert(candidates.begin(), runtime + "/penstock");
  }
  for (const std::string& directory : candidates) {
    const bool there = mkdir(directory.c_str(), 0700) == 0 || errno == EEXIST;
    if (there && distrust(directory).empty() && socket_address(attach_socket(directory, INT32_MAX)))
      return directory;
  }
  return {};
}

std::string distrust(const std::string& directory) {
  struct stat status{};
  if (lstat(directory.c_str(), &status) != 0) return {};
  if (!S_ISDIR(status.st_mode)) return directory + " is not a directory; remove it";
  if (status.st_uid != geteuid()) return directory + " belongs to another user; remove it";
  if ((status.st_mode & 077) != 0)
    return "other users can enter " + directory + "; close it with chmod 700";
  return {};
}

std::string attach_socket(const std::string& directory, int64_t pid) {
  return directory + "/" + std::to_string(pid) + std::string(kSuffix);
}

std::optional<int64_t> pid_of_socket(const std::string& name) {
  if (!name.ends_with(kSuffix)) return {};
  const char* const end = name.data() + name.size() - kSuffix.size();
  int64_t pid = 0;
  const auto [stop, error] = std::from_chars(name.data(), end, pid);
  if (error != std::errc() || stop != end || pid <= 0) return {};
  return pid;
}

std::optional<sockaddr_un> socket_address(const std::string& path) {
  sockaddr_un out{};
  out.sun_family = AF_UNIX;
  if (path.size() >= sizeof(out.sun_path)) return {};
  std::memcpy(out.sun_path, path.c_str(), path.size() + 1);
  return out;
}

}  // namespace penstock
