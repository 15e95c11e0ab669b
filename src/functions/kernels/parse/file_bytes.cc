#include "functions/kernels/parse/file_bytes.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "base/open_file.h"

namespace penstock {
namespace {

[[noreturn]] void fail(std::string_view caller, const std::string& path, Code code,
                       const std::string& what) {
  throw Error(code, std::string(caller) + ": " + path + ": " + what);
}

OpenedFile open_file(std::string_view caller, const std::string& path) {
  try {
    return open_regular(caller, path);
  } catch (const Error& e) {
    if (e.code() != Code::not_found) throw;
    throw Error(e.code(), e.message() + "; relative names begin in the working directory");
  }
}

// Of a file whose size is 0 or not known before it is read (/proc).
FileBytes read_unsized(std::string_view caller, const std::string& path, int64_t limit) {
  const std::string bytes = read_regular(caller, path, limit);
  const BufferRef buffer = allocate_buffer(std::max<int64_t>(std::ssize(bytes), 1));
  if (!bytes.empty()) std::memcpy(buffer.data(), bytes.data(), bytes.size());
  return {buffer, std::ssize(bytes)};
}

}  // namespace

FileBytes read_file_bytes(const std::string& path, std::string_view caller, int64_t limit) {
  const OpenedFile file = open_file(caller, path);
  const int64_t size = file.status.st_size;
  if (size == 0) return read_unsized(caller, path, limit);
  if (size > limit)
    fail(caller, path, Code::resource_exhausted,
         "has " + std::to_string(size) + " bytes, over the limit of " + std::to_string(limit));
  const BufferRef buffer = allocate_buffer(size);
  int64_t done = 0;
  while (done < size) {
    const ssize_t n =
        ::pread(file.fd.get(), buffer.data() + done, static_cast<size_t>(size - done), done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw system_error(caller, path, errno);
    if (n == 0 && size_is_a_guess(file.fd.get(), size)) break;
    if (n == 0) fail(caller, path, Code::data_loss, "became shorter while it was read");
    done += n;
  }
  return {buffer, done};
}

}  // namespace penstock
