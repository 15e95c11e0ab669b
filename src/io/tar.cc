#include "io/tar.h"

#include <charconv>
#include <cstring>
#include <optional>

namespace penstock {
namespace {

constexpr size_t kBlock = 512;
constexpr int64_t kMostNameBytes = 1 << 16;
constexpr int64_t kMostSize = int64_t{1} << 50;

std::string_view text_at(std::string_view header, size_t at, size_t size) {
  const std::string_view field = header.substr(at, size);
  return field.substr(0, field.find('\0'));
}

// Parses octal digits, or base 256 if the first bit is set.
std::optional<int64_t> number_at(std::string_view header, size_t at, size_t size) {
  std::string_view field = header.substr(at, size);
  int64_t value = 0;
  if (field[0] & 0x80) {
    for (size_t i = 1; i < size; ++i) {
      if (value > kMostSize) return {};
      value = value * 256 + static_cast<uint8_t>(field[i]);
    }
    return field[0] == '\x80' && value <= kMostSize ? std::optional(value) : std::nullopt;
  }
  while (!field.empty() && field[0] == ' ') field.remove_prefix(1);
  const size_t end = field.find_first_not_of("01234567");
  if (end != std::string_view::npos && field[end] != ' ' && field[end] != '\0') return {};
  field = field.substr(0, end);
  if (field.empty()) return 0;
  const auto [p, code] = std::from_chars(field.data(), field.data() + field.size(), value, 8);
  return code == std::errc() && value <= kMostSize ? std::optional(value) : std::nullopt;
}

bool checksum_matches(std::string_view header) {
  int64_t plain = 0, with_signs = 0;
  for (size_t i = 0; i < kBlock; ++i) {
    const char c = i >= 148 && i < 156 ? ' ' : header[i];
    plain += static_cast<uint8_t>(c);
    with_signs += static_cast<signed char>(c);
  }
  const std::optional<int64_t> found = number_at(header, 148, 8);
  return found == plain || found == with_signs;
}

int64_t padded(int64_t size) {
  constexpr auto kSize = static_cast<int64_t>(kBlock);
  return (size + kSize - 1) / kSize * kSize;
}

// Attributes of the next member from pax headers.
struct Pax {
  std::string name;
  int64_t size = -1;
  bool sparse = false;
};

// Parses "27 path=some/name\n" entries. Returns false if they are malformed.
bool read_pax(std::string_view entries, Pax* out) {
  while (!entries.empty()) {
    size_t length = 0;
    const char* const end = entries.data() + entries.size();
    const auto [p, code] = std::from_chars(entries.data(), end, length);
    if (code != std::errc() || p == end || *p != ' ' || length > entries.size()) return false;
    const auto head = static_cast<size_t>(p - entries.data()) + 1;
    if (length <= head || entries[length - 1] != '\n') return false;
    const std::string_view entry = entries.substr(head, length - head - 1);
    entries.remove_prefix(length);
    const std::string_view value = entry.substr(std::min(entry.find('=') + 1, entry.size()));
    // A sparse file has its name in another entry; tar made up its path.
    if (entry.starts_with("path=") && !out->sparse) out->name = value;
    if (entry.starts_with("GNU.sparse.name=")) out->name = value;
    out->sparse = out->sparse || entry.starts_with("GNU.sparse.");
    if (entry.starts_with("size=") &&
        std::from_chars(value.data(), value.data() + value.size(), out->size).ec != std::errc())
      return false;
  }
  return true;
}

TarMember bad(std::string fault) {
  TarMember out;
  out.state = TarMember::State::bad;
  out.fault = std::move(fault);
  return out;
}

TarMember cut(int64_t needed) {
  TarMember out;
  out.state = TarMember::State::cut;
  out.bytes = needed;
  return out;
}

std::string name_of(std::string_view header) {
  const bool ustar = header.substr(257, 5) == "ustar" && header[262] == '\0';
  const std::string_view prefix = ustar ? text_at(header, 345, 155) : std::string_view();
  std::string out(prefix);
  if (!prefix.empty()) out += '/';
  return out += text_at(header, 0, 100);
}

// Returns the bytes of the blocks that continue the list of pieces of an old GNU sparse header;
// nothing if they are incomplete.
std::optional<size_t> sparse_blocks(std::string_view bytes, size_t at) {
  constexpr size_t kContinuesHeader = 482, kContinuesBlock = 504;
  bool more = bytes[at + kContinuesHeader] != 0;
  size_t out = 0;
  while (more) {
    out += kBlock;
    if (bytes.size() < at + out + kBlock) return {};
    more = bytes[at + out + kContinuesBlock] != 0;
  }
  return out;
}

}  // namespace

TarMember read_tar_member(std::string_view bytes) {
  Pax pax;
  for (size_t at = 0;;) {
    if (bytes.size() < at + kBlock) return cut(static_cast<int64_t>(at + kBlock));
    const std::string_view header = bytes.substr(at, kBlock);
    if (at == 0 && header.find_first_not_of('\0') == std::string_view::npos) {
      TarMember out;
      out.state = TarMember::State::end;
      return out;
    }
    if (!checksum_matches(header)) return bad("the header's checksum does not match");
    std::optional<int64_t> size = number_at(header, 124, 12);
    if (!size) return bad("the header's size is no number");
    const char kind = header[156];
    const bool extends = kind == 'L' || kind == 'K' || kind == 'x' || kind == 'g';
    if (!extends && pax.size >= 0) size = pax.size;
    size_t data_at = at + kBlock;
    if (kind == 'S') {
      const std::optional<size_t> list = sparse_blocks(bytes, at);
      if (!list) return cut(static_cast<int64_t>(bytes.size() + kBlock));
      data_at += *list;
      pax.sparse = true;
    }
    const int64_t whole = static_cast<int64_t>(data_at) + padded(*size);
    const bool there = whole <= static_cast<int64_t>(bytes.size());
    if (extends) {
      if (*size > kMostNameBytes) return bad("a name of more than 65536 bytes");
      if (!there) return cut(whole);
      const std::string_view body = bytes.substr(at + kBlock, static_cast<size_t>(*size));
      if (kind == 'L') pax.name = body.substr(0, body.find('\0'));
      if (kind == 'x' && !read_pax(body, &pax)) return bad("a bad pax header");
      at = static_cast<size_t>(whole);
      continue;
    }
    TarMember out;
    out.state = there ? TarMember::State::whole : TarMember::State::cut;
    out.is_file = kind == '0' || kind == '\0' || kind == '7' || kind == 'S';
    out.sparse = pax.sparse;
    out.name = pax.name.empty() ? name_of(header) : pax.name;
    out.bytes = whole;
    if (there) out.data = bytes.substr(data_at, static_cast<size_t>(*size));
    return out;
  }
}

bool split_tar_name(std::string_view name, std::string_view* key, std::string_view* extension) {
  const size_t slash = name.rfind('/');
  const size_t base = slash == std::string_view::npos ? 0 : slash + 1;
  const size_t dot = name.find('.', base);
  if (dot == std::string_view::npos || dot == base) return false;
  *key = name.substr(0, dot);
  *extension = name.substr(dot + 1);
  return true;
}

}  // namespace penstock
