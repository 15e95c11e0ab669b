#include "base/origin_text.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>

#include "base/error.h"
#include "penstock/error_origin.h"

namespace penstock {
namespace {

constexpr std::string_view kOffset = ": offset ", kRecord = ", record ";

bool needs_quotes(std::string_view path) {
  return path.find(": ") != std::string_view::npos || path.find(" (") != std::string_view::npos ||
         path.starts_with('"');
}

// True if a path may begin at `at`: at the start, after ": " or after "(".
bool begins_path(std::string_view text, size_t at) {
  const std::string_view before = text.substr(0, at);
  return before.empty() || before.ends_with(": ") || before.ends_with('(');
}

// Reads the path that `text` ends with: from its opening quote, else from the last `opening`.
std::string path_at_end(std::string_view text, std::string_view opening) {
  if (text.ends_with('"')) {
    const std::string_view open = text.substr(0, text.size() - 1);
    for (size_t at = open.rfind('"'); at != std::string_view::npos;
         at = at == 0 ? std::string_view::npos : open.rfind('"', at - 1)) {
      if (begins_path(text, at)) return std::string(open.substr(at + 1));
    }
  }
  const size_t before = text.rfind(opening);
  return std::string(before == std::string_view::npos ? text
                                                      : text.substr(before + opening.size()));
}

// Reads the digits that `text` begins with, if they end there or before ':', ' ' or ')'.
std::optional<int64_t> number_at_start(std::string_view text) {
  int64_t out = 0;
  const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), out);
  const std::string_view rest = text.substr(static_cast<size_t>(end - text.data()));
  const bool ends = rest.empty() || std::string_view(": )").find(rest[0]) != std::string_view::npos;
  return wrong == std::errc() && ends ? std::optional(out) : std::nullopt;
}

// "PATH: offset N" anywhere in the message.
bool read_offset(std::string_view message, ErrorOrigin* out) {
  for (size_t at = message.find(kOffset); at != std::string_view::npos;
       at = message.find(kOffset, at + 1)) {
    out->offset = number_at_start(message.substr(at + kOffset.size()));
    if (out->offset) out->file = path_at_end(message.substr(0, at), ": ");
    if (out->offset) return true;
  }
  return false;
}

// "... (PATH, record N)" at the end of the message.
void read_record(std::string_view message, ErrorOrigin* out) {
  const size_t at = message.rfind(kRecord);
  if (at == std::string_view::npos || !message.ends_with(')')) return;
  out->record = number_at_start(message.substr(at + kRecord.size()));
  if (out->record && out->file.empty()) out->file = path_at_end(message.substr(0, at), " (");
}

// "WHAT: PATH: No such file or directory", as system_error writes it.
void read_system_error(std::string_view message, ErrorOrigin* out) {
  constexpr std::array kErrors{ENOENT, ENOTDIR, EACCES, EPERM,  EROFS,  EEXIST, ENOSPC, EDQUOT,
                               EFBIG,  EMFILE,  ENFILE, ENOMEM, EISDIR, EINVAL, EIO};
  size_t end = 0;  // of the path; the last such text is ours, others may stand in the path
  for (const int error : kErrors) {
    const size_t at = message.rfind(": " + std::string(std::strerror(error)));
    if (at != std::string_view::npos) end = std::max(end, at);
  }
  const std::string_view named = message.substr(0, end);
  if (named.find(": ") != std::string_view::npos) out->file = path_at_end(named, ": ");
}

}  // namespace

std::string path_text(std::string_view path) {
  return needs_quotes(path) ? '"' + std::string(path) + '"' : std::string(path);
}

std::string at_offset(std::string_view path, int64_t offset) {
  return path_text(path) + std::string(kOffset) + std::to_string(offset);
}

std::string at_record(std::string_view path, int64_t record) {
  return path_text(path) + std::string(kRecord) + std::to_string(record);
}

ErrorOrigin error_origin(const Error& error) {
  ErrorOrigin out;
  const bool has_offset = read_offset(error.message(), &out);
  read_record(error.message(), &out);
  if (!has_offset && !out.record) read_system_error(error.message(), &out);
  return out;
}

}  // namespace penstock
