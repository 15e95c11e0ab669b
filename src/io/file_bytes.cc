#include "io/file_bytes.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "io/file.h"

namespace penstock {
namespace {

[[noreturn]] void fail(std::string_view caller, const std::string& path, Code code,
                       const std::string& what) {
  throw Error(code, std::string(caller) + ": " + path + ": " + what);
}

File open_file(std::string_view caller, const std::string& path) {
  try {
    return File(path, caller);
  } catch (const Error& e) {
    if (e.code() != Code::not_found || !scheme_of(path).empty()) throw;
    throw Error(e.code(), e.message() + "; relative names begin in the working directory");
  }
}

// Reads a file whose size is 0 or unknown before it is read (/proc).
FileBytes read_unsized(std::string_view caller, const File& file, int64_t limit) {
  const std::string bytes = read_regular(caller, file, limit);
  const BufferRef buffer = allocate_buffer(std::max<int64_t>(std::ssize(bytes), 1));
  if (!bytes.empty()) std::memcpy(buffer.data(), bytes.data(), bytes.size());
  return {buffer, std::ssize(bytes)};
}

}  // namespace

FileBytes read_file_bytes(const std::string& path, std::string_view caller, int64_t limit) {
  const File file = open_file(caller, path);
  const int64_t size = file.size();
  if (size == 0) return read_unsized(caller, file, limit);
  if (size > limit)
    fail(caller, path, Code::resource_exhausted,
         "has " + std::to_string(size) + " bytes, over the limit of " + std::to_string(limit));
  const BufferRef buffer = allocate_buffer(size);
  const int64_t done = file.pread({buffer.data(), static_cast<size_t>(size)}, 0);
  if (done < size && !file.size_is_a_guess())
    fail(caller, path, Code::data_loss, "became shorter while it was read");
  return {buffer, done};
}

}  // namespace penstock
