// The protobuf wire format, read from a bounded run of bytes.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "base/error.h"

namespace penstock {

// Walks the fields of one message. `start` is where positions in error messages count from, `what`
// what the bytes should have been.
class WireReader {
 public:
  enum Type : uint32_t {
    varint = 0,
    fixed64 = 1,
    length = 2,
    start_group = 3,
    end_group = 4,
    fixed32 = 5,
  };

  WireReader(std::string_view message, const char* start, const char* what = "tf.train.Example")
      : at_(message.data()), end_(message.data() + message.size()), start_(start), what_(what) {}

  bool done() const { return at_ == end_; }
  const char* at() const { return at_; }

  // The next field's number << 3 | type.
  uint32_t tag() {
    const auto first = static_cast<uint8_t>(at_ < end_ ? *at_ : 0);
    if (first >= 8 && first < 128) {
      ++at_;
      return first;
    }
    return long_tag();
  }

  uint64_t varint64() {
    if (at_ < end_ && static_cast<int8_t>(*at_) >= 0) return static_cast<uint8_t>(*at_++);
    return long_varint(10);
  }

  std::string_view bytes() {
    const uint64_t size = varint64();
    if (size > static_cast<uint64_t>(end_ - at_)) fail("a length beyond the end of the message");
    const char* begin = at_;
    at_ += size;
    return {begin, static_cast<size_t>(size)};
  }

  template <class T>
  T fixed() {
    if (static_cast<size_t>(end_ - at_) < sizeof(T)) fail("a value that is cut");
    T value;
    std::memcpy(&value, at_, sizeof value);
    at_ += sizeof value;
    return value;
  }

  // Passes over the value of a field whose tag has been read.
  void skip(uint32_t tag, int depth = 0) {
    switch (tag & 7) {
      case varint: varint64(); return;
      case fixed64: fixed<uint64_t>(); return;
      case length: bytes(); return;
      case fixed32: fixed<uint32_t>(); return;
      case start_group: skip_group(tag >> 3, depth); return;
      default: fail("a tag that stands for nothing");
    }
  }

  [[noreturn]] void fail(const char* what) const {
    throw Error(Code::invalid_argument, std::string("not a ") + what_ + ": byte " +
                                            std::to_string(at_ - start_) + ": " + what);
  }

 private:
  uint64_t long_varint(int most_bytes) {
    uint64_t value = 0;
    for (int i = 0; i < most_bytes; ++i) {
      if (at_ == end_) fail("a number that is cut");
      const auto byte = static_cast<uint8_t>(*at_++);
      value |= static_cast<uint64_t>(byte & 127) << (7 * i);
      if (byte < 128) return value;
    }
    fail("a number that is too long");
  }

  uint32_t long_tag() {
    const auto value = static_cast<uint32_t>(long_varint(5));
    if (value < 8) fail("a field of number 0");
    return value;
  }

  void skip_group(uint32_t number, int depth) {
    if (depth > 90) fail("groups that are nested too deep");
    for (;;) {
      if (done()) fail("a group without an end");
      const uint32_t inner = tag();
      if ((inner & 7) != end_group) {
        skip(inner, depth + 1);
      } else if (inner >> 3 == number) {
        return;
      } else {
        fail("a group's end that fits none");
      }
    }
  }

  const char* at_;
  const char* end_;
  const char* start_;
  const char* what_;
};

}  // namespace penstock
