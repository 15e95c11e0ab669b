// Reads the list of members. Refuses a list above 64 MiB or one that is not before its end record.

#include <algorithm>
#include <string_view>

#include "base/error.h"
#include "base/origin_text.h"
#include "io/zip.h"

namespace penstock {
namespace {

constexpr int64_t kEndBytes = 22, kLocatorBytes = 20, kEnd64Bytes = 56, kEntryBytes = 46;
constexpr int64_t kMostComment = 65535, kMostList = 64 << 20;
constexpr std::string_view kEndMagic{"PK\5\6", 4}, kLocatorMagic{"PK\6\7", 4},
    kEnd64Magic{"PK\6\6", 4}, kEntryMagic{"PK\1\2", 4};

// Returns `bytes` little-endian bytes at `at`; REQUIRES that they exist.
uint64_t number(std::string_view text, int64_t at, int bytes) {
  uint64_t out = 0;
  for (int i = bytes - 1; i >= 0; --i)
    out = out << 8 | static_cast<uint8_t>(text[static_cast<size_t>(at + i)]);
  return out;
}

class List {
 public:
  explicit List(const File& file) : file_(file) {}

  std::vector<ZipMember> members() {
    find();
    std::vector<ZipMember> out;
    const std::string list = bytes_at(offset_, bytes_);
    for (std::string_view rest = list; !rest.empty();) out.push_back(entry(&rest));
    if (out.size() != count_) {
      fail(offset_, "the archive has " + std::to_string(out.size()) + " members, its end counts " +
                        std::to_string(count_));
    }
    return out;
  }

 private:
  [[noreturn]] void fail(int64_t at, const std::string& what, Code code = Code::data_loss) const {
    throw Error(code, at_offset(file_.path(), at) + ": " + what);
  }

  std::string bytes_at(int64_t offset, int64_t size) const {
    std::string out(static_cast<size_t>(size), '\0');
    out.resize(static_cast<size_t>(file_.pread(std::as_writable_bytes(std::span(out)), offset)));
    if (static_cast<int64_t>(out.size()) < size) fail(offset, "the archive is cut");
    return out;
  }

  // Finds the list through the end record, or through the larger record before it.
  void find() {
    const int64_t size = std::min(file_.size(), kEndBytes + kMostComment);
    const std::string tail = bytes_at(file_.size() - size, size);
    const size_t found = tail.rfind(kEndMagic);
    if (found == std::string::npos || tail.size() - found < static_cast<size_t>(kEndBytes))
      fail(file_.size(), "no zip archive, or a cut one: it has no list of members at its end");
    const std::string_view end = std::string_view(tail).substr(found);
    const int64_t at = file_.size() - size + static_cast<int64_t>(found);
    uint64_t count = number(end, 10, 2), bytes = number(end, 12, 4), offset = number(end, 16, 4);
    int64_t before = at;
    if (at >= kLocatorBytes) {
      const std::string locator = bytes_at(at - kLocatorBytes, kLocatorBytes);
      if (locator.starts_with(kLocatorMagic)) {
        before = checked(number(locator, 8, 8), at - kEnd64Bytes, at);
        const std::string large = bytes_at(before, kEnd64Bytes);
        if (!large.starts_with(kEnd64Magic)) fail(before, "the archive's end record is damaged");
        count = number(large, 32, 8), bytes = number(large, 40, 8), offset = number(large, 48, 8);
      }
    }
    bytes_ = checked(bytes, std::min(before, kMostList), at);
    offset_ = checked(offset, before - bytes_, at);
    count_ = count;
  }

  int64_t checked(uint64_t value, int64_t most, int64_t at) const {
    if (most < 0 || value > static_cast<uint64_t>(most))
      fail(at, "the archive's end record is damaged: " + std::to_string(value));
    return static_cast<int64_t>(value);
  }

  // Returns the entry at the start of `rest`, and advances `rest` past it.
  ZipMember entry(std::string_view* rest) const {
    const int64_t at = offset_ + bytes_ - static_cast<int64_t>(rest->size());
    if (!rest->starts_with(kEntryMagic) || rest->size() < static_cast<size_t>(kEntryBytes))
      fail(at, "the archive's list of members is damaged");
    const uint64_t name = number(*rest, 28, 2), extra = number(*rest, 30, 2);
    const uint64_t whole = static_cast<uint64_t>(kEntryBytes) + name + extra + number(*rest, 32, 2);
    if (whole > rest->size()) fail(at, "the archive's list of members is damaged");
    ZipMember out;
    out.name = rest->substr(static_cast<size_t>(kEntryBytes), name);
    const uint64_t method = number(*rest, 10, 2);
    if (number(*rest, 8, 2) & 1) fail(at, out.name + " is encrypted", Code::unimplemented);
    if (method != 0 && method != 8) {
      fail(at,
           out.name + " is packed by method " + std::to_string(method) +
               ", only stored and deflated members are read",
           Code::unimplemented);
    }
    out.deflated = method == 8;
    out.crc32 = static_cast<uint32_t>(number(*rest, 16, 4));
    uint64_t sizes[3] = {number(*rest, 24, 4), number(*rest, 20, 4), number(*rest, 42, 4)};
    widen(sizes, rest->substr(static_cast<size_t>(kEntryBytes) + name, extra));
    out.bytes = checked(sizes[0], INT64_MAX, at);
    out.stored_bytes = checked(sizes[1], file_.size(), at);
    out.header_offset = checked(sizes[2], file_.size(), at);
    rest->remove_prefix(whole);
    return out;
  }

  // Replaces sizes and offset that do not fit 32 bits by those of an extra field, in this order.
  static void widen(std::span<uint64_t> sizes, std::string_view extra) {
    while (extra.size() >= 4) {
      const uint64_t id = number(extra, 0, 2), size = number(extra, 2, 2);
      extra.remove_prefix(4);
      std::string_view field = extra.substr(0, size);
      if (id == 1) {
        for (uint64_t& value : sizes) {
          if (value != 0xffffffff || field.size() < 8) continue;
          value = number(field, 0, 8);
          field.remove_prefix(8);
        }
      }
      extra.remove_prefix(std::min<size_t>(extra.size(), size));
    }
  }

  const File& file_;
  int64_t offset_ = 0, bytes_ = 0;
  uint64_t count_ = 0;
};

}  // namespace

std::vector<ZipMember> read_zip_members(const File& file) {
  std::vector<ZipMember> out = List(file).members();
  std::vector<std::string_view> names;
  for (const ZipMember& m : out) names.push_back(m.name);
  std::ranges::sort(names);
  if (const auto twice = std::ranges::adjacent_find(names); twice != names.end()) {
    throw Error(Code::data_loss,
                file.path() + ": the archive has two members " + std::string(*twice));
  }
  return out;
}

}  // namespace penstock
