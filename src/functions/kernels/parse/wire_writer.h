// The protobuf wire format, written.
#pragma once

#include <cstdint>
#include <string_view>

namespace penstock {

template <typename String>
void append_varint(String& out, uint64_t value) {
  for (; value >= 128; value >>= 7) out += static_cast<char>(value | 128);
  out += static_cast<char>(value);
}

// Field numbers up to 15.
template <typename String>
void append_number_field(String& out, int number, uint64_t value) {
  out += static_cast<char>(number << 3);
  append_varint(out, value);
}

template <typename String>
void append_bytes_field(String& out, int number, std::string_view bytes) {
  out += static_cast<char>(number << 3 | 2);
  append_varint(out, bytes.size());
  out += bytes;
}

}  // namespace penstock
