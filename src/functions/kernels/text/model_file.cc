#include "functions/kernels/text/model_file.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "base/open_file.h"

namespace penstock {

std::string missing_file(const std::string& path) {
  struct stat file{};
  // What else is wrong with the name is said where the file is opened.
  if (path.find('\0') != std::string::npos) return {};
  if (stat(path.c_str(), &file) == 0 || errno != ENOENT) return {};
  return path + ": " + std::strerror(ENOENT);
}

std::string read_model_file(const std::string& path) {
  constexpr int64_t kMostBytes = int64_t{4} << 30;
  constexpr std::string_view kCaller = "open";
  try {
    return read_regular(kCaller, path, kMostBytes);
  } catch (const Error& e) {
    throw Error(e.code(), e.message().substr(kCaller.size() + 2));  // the model's reader is named
  }
}

}  // namespace penstock
