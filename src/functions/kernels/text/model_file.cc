#include "functions/kernels/text/model_file.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <utility>

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

ModelFile read_model_file(const std::string& path) {
  constexpr int64_t kMostBytes = int64_t{4} << 30;
  constexpr int64_t kSmall = 64 << 10;  // less than the program's own
  constexpr int64_t kFactor = 3;        // an index and the pieces take about as much again
  constexpr std::string_view kCaller = "open";
  try {
    const int64_t size = open_regular(kCaller, path).status.st_size;
    Charge room(size <= kSmall || size > kMostBytes ? 0 : kFactor * size);
    return {std::move(room), read_regular(kCaller, path, kMostBytes)};
  } catch (const Error& e) {
    const bool prefixed = e.message().starts_with(kCaller);  // the model's reader is named instead
    throw Error(e.code(),
                prefixed ? e.message().substr(kCaller.size() + 2) : path + ": " + e.message());
  }
}

}  // namespace penstock
