#include "functions/kernels/text/strings.h"

#include <cstring>

namespace penstock {

void StringWriter::finish(BytesView* out, BufferRef* keeper) const {
  if (ends_.empty()) return;
  const BufferRef storage = allocate_buffer(static_cast<int64_t>(chars_.size()));
  char* at = reinterpret_cast<char*>(storage.data());
  if (!chars_.empty()) std::memcpy(at, chars_.data(), chars_.size());
  size_t begin = 0;
  for (size_t i = 0; i < ends_.size(); ++i) {
    out[i] = {at + begin, static_cast<int64_t>(ends_[i] - begin)};
    begin = ends_[i];
  }
  keeper->keep(storage);
}

std::string_view stripped(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

void append_quoted(std::string_view text, ChargedString* to) {
  constexpr char kHex[] = "0123456789abcdef";
  ChargedString& out = *to;
  out += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += {'\\', c};
    } else if (c >= ' ' && c != '\x7f') {
      out += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
    }
  }
  out += '"';
}

std::string quoted(std::string_view text) {
  constexpr size_t kMost = 40;
  ChargedString out;
  append_quoted(text.substr(0, kMost), &out);
  return std::string(out) + (text.size() > kMost ? "..." : "");
}

namespace {

bool goes_on(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

}  // namespace

int64_t utf8_length(std::string_view text) {
  int64_t n = 0;
  for (const char c : text) n += !goes_on(c);
  return n;
}

size_t utf8_offset(std::string_view text, int64_t n) {
  size_t at = 0;
  for (; n > 0 && at < text.size(); --n) {
    do {
      ++at;
    } while (at < text.size() && goes_on(text[at]));
  }
  return at;
}

Param unit_param() { return option("unit", Param::Kind::text, Attr::text("BYTE")); }

void check_unit(const InferContext& context) {
  const std::string unit = context.attrs["unit"].as_string();
  if (unit != "BYTE" && unit != "UTF8_CHAR")
    throw TypeError{-1, "unit", "must be \"BYTE\" or \"UTF8_CHAR\": " + quoted(unit)};
}

bool counts_characters(const Attrs& attrs) { return attrs["unit"].as_string() == "UTF8_CHAR"; }

}  // namespace penstock
