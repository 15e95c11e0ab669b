#include "functions/kernels/text/model_file.h"

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "io/file.h"

namespace penstock {

std::string missing_file(const std::string& path) {
  // What else is wrong with the name is said where the file is opened.
  if (file_status(path).kind != FileStatus::Kind::missing) return {};
  return path + ": " + std::strerror(ENOENT);
}

ModelFile read_model_file(const std::string& path) {
  constexpr int64_t kMostBytes = int64_t{4} << 30;
  constexpr int64_t kSmall = 64 << 10;  // less than the program's own
  constexpr int64_t kFactor = 3;        // an index and the pieces take about as much again
  constexpr std::string_view kCaller = "open";
  try {
    const File file(path, kCaller);
    const int64_t size = file.size();
    Charge room(size <= kSmall || size > kMostBytes ? 0 : kFactor * size);
    return {std::move(room), read_regular(kCaller, file, kMostBytes)};
  } catch (const Error& e) {
    const bool prefixed = e.message().starts_with(kCaller);  // the model's reader is named instead
    throw Error(e.code(),
                prefixed ? e.message().substr(kCaller.size() + 2) : path + ": " + e.message());
  }
}

}  // namespace penstock
