#include "io/npy.h"

#include <span>

#include "base/error.h"
#include "io/file.h"

namespace penstock {

NpyHeader read_npy_header(const std::string& path) {
  try {
    const File file(path);
    std::string bytes(static_cast<size_t>(kNpyPrefix), '\0');
    bytes.resize(static_cast<size_t>(file.pread(std::as_writable_bytes(std::span(bytes)), 0)));
    bytes.resize(static_cast<size_t>(npy_header_bytes(bytes)));
    bytes.resize(static_cast<size_t>(file.pread(std::as_writable_bytes(std::span(bytes)), 0)));
    return parse_npy_header(bytes);
  } catch (const Error& e) {
    const bool named = e.message().find(path) != std::string::npos;
    throw Error(e.code(), named ? e.message() : path + ": " + e.message());
  }
}

}  // namespace penstock
