#include "data/npy_header.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include "base/error.h"
#include "data/checked_product.h"

namespace penstock {
namespace {

constexpr std::string_view kMagic{"\x93NUMPY", 6};
constexpr int64_t kMostHeader = 1 << 20;

[[noreturn]] void bad(const std::string& what) {
  throw Error(Code::data_loss, "no .npy file: " + what);
}
[[noreturn]] void unread(const std::string& what) {
  throw Error(Code::unimplemented,
              what + "; save it anew with np.ascontiguousarray and a plain dtype");
}

std::optional<DType> dtype_of(std::string_view descr) {
  using enum DType;
  static constexpr std::pair<std::string_view, DType> kKnown[] = {
      {"|b1", boolean}, {"|u1", uint8},   {"|i1", int8},    {"<u2", uint16},
      {"<i2", int16},   {"<u4", uint32},  {"<i4", int32},   {"<u8", uint64},
      {"<i8", int64},   {"<f2", float16}, {"<f4", float32}, {"<f8", float64}};
  for (const auto& [name, dtype] : kKnown) {
    if (name == descr) return dtype;
  }
  return {};
}

// Returns the text after `'key': ` in the header's dict.
std::string_view value_of(std::string_view dict, std::string_view key) {
  const std::string quoted = "'" + std::string(key) + "':";
  const size_t at = dict.find(quoted);
  if (at == std::string_view::npos) bad("its header has no " + std::string(key));
  std::string_view rest = dict.substr(at + quoted.size());
  const size_t begin = rest.find_first_not_of(' ');
  return begin == std::string_view::npos ? std::string_view() : rest.substr(begin);
}

Dims shape_of(std::string_view text) {
  if (!text.starts_with('(') || text.find(')') == std::string_view::npos) bad("its shape is none");
  text = text.substr(1, text.find(')') - 1);
  std::vector<int64_t> out;
  while (!text.empty()) {
    const size_t comma = text.find(',');
    std::string_view size = text.substr(0, comma);
    while (size.starts_with(' ')) size.remove_prefix(1);
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
    if (size.empty() && text.empty()) break;
    int64_t n = -1;
    const auto [p, code] = std::from_chars(size.data(), size.data() + size.size(), n);
    if (code != std::errc() || p != size.data() + size.size() || n < 0) bad("its shape is none");
    out.push_back(n);
    if (!are_shape_sizes(out)) bad("its shape is too large");
    if (out.size() > static_cast<size_t>(kMaxRank)) unread("the array has more than 8 axes");
  }
  return Dims(out);
}

}  // namespace

int64_t npy_header_bytes(std::string_view prefix) {
  if (static_cast<int64_t>(prefix.size()) < kNpyPrefix || !prefix.starts_with(kMagic))
    bad("it does not begin with \\x93NUMPY");
  const auto byte = [&](size_t i) { return int64_t{static_cast<uint8_t>(prefix[i])}; };
  if (byte(6) < 1 || byte(6) > 3) bad("version " + std::to_string(byte(6)));
  const bool is_long = byte(6) > 1;
  const int64_t size =
      is_long ? byte(8) | byte(9) << 8 | byte(10) << 16 | byte(11) << 24 : byte(8) | byte(9) << 8;
  if (size > kMostHeader) bad("a header of " + std::to_string(size) + " bytes");
  return (is_long ? 12 : 10) + size;
}

NpyHeader parse_npy_header(std::string_view header) {
  NpyHeader out;
  out.bytes = npy_header_bytes(header);
  if (static_cast<int64_t>(header.size()) < out.bytes) bad("its header is cut");
  const size_t begin = header[6] > 1 ? 12 : 10;
  const std::string_view dict = header.substr(begin, static_cast<size_t>(out.bytes) - begin);
  const std::string_view descr = value_of(dict, "descr");
  const size_t end = descr.starts_with('\'') ? descr.find('\'', 1) : std::string_view::npos;
  if (end == std::string_view::npos) unread("the array has a structured dtype");
  const std::optional<DType> dtype = dtype_of(descr.substr(1, end - 1));
  if (!dtype)
    unread("the array has dtype " + std::string(descr.substr(1, std::min<size_t>(end - 1, 40))));
  out.dtype = *dtype;
  const Dims shape = shape_of(value_of(dict, "shape"));
  if (shape.rank() == 0) unread("the array is a scalar: it has no rows");
  if (!value_of(dict, "fortran_order").starts_with("False") && shape.rank() > 1)
    unread("the array is in Fortran order");
  out.rows = shape[0];
  out.row = shape.without_front();
  return out;
}

}  // namespace penstock
