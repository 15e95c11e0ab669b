// Reads TFRecord files.

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <span>
#include <utility>

#include "base/crc32c.h"
#include "io/chunked_reader.h"

namespace penstock {
namespace {

template <class T>
T load(const char* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

uint32_t masked_crc(const char* data, int64_t size) {
  return mask_crc(crc32c(std::as_bytes(std::span(data, static_cast<size_t>(size)))));
}

std::string mismatch(const char* what, uint32_t found, uint32_t computed) {
  char text[128];
  std::snprintf(text, sizeof text,
                "%s checksum does not match: 0x%08x in the file, 0x%08x computed", what, found,
                computed);
  return text;
}

// Record layout: uint64 length, uint32 checksum of the length, the data, uint32 checksum of the
// data.
class TfRecordReader final : public ChunkedReader {
 public:
  TfRecordReader(std::string path, const ReaderOptions& options)
      : ChunkedReader("tfrecord", std::move(path), options), verify_(options.verify_checksums) {}

 private:
  static constexpr int64_t kHead = 12;
  static constexpr int64_t kFoot = 4;

  int64_t take(RecordChunk* out, int64_t max_records) override {
    while (static_cast<int64_t>(out->records.size()) < max_records) {
      if (available() < kHead) return kHead;
      const char* head = data() + begin_;
      const auto size = load<uint64_t>(head);
      if (const int64_t at = offset(); at >= checked_to_) {
        checked_to_ = at + 1;
        if (!check_length(out, at, head, size)) return 0;
      }
      const auto bytes = static_cast<int64_t>(size);
      const int64_t whole = kHead + bytes + kFoot;
      if (available() < whole) return whole;
      const int64_t at = offset();
      const int64_t begin = std::exchange(begin_, begin_ + whole);
      if (verify_) {
        const uint32_t computed = masked_crc(head + kHead, bytes);
        const auto found = load<uint32_t>(head + kHead + bytes);
        if (found != computed) {
          fail(out, at, mismatch("data", found, computed));
          return 0;
        }
      }
      give(out, begin + kHead, bytes, at);
    }
    return 0;
  }

  bool check_length(RecordChunk* out, int64_t at, const char* head, uint64_t size) {
    if (verify_) {
      const auto found = load<uint32_t>(head + 8);
      const uint32_t computed = masked_crc(head, 8);
      if (found != computed) {
        fail_for_good(out, at, mismatch("length", found, computed));
        return false;
      }
    }
    if (size > static_cast<uint64_t>(kMaxRecordBytes)) {
      fail_for_good(out, at,
                    "the record has " + std::to_string(size) + " bytes, over the limit of " +
                        std::to_string(kMaxRecordBytes));
      return false;
    }
    const int64_t coming = stream().bytes_left();
    const auto whole = kHead + static_cast<int64_t>(size) + kFoot;
    if (coming >= 0 && whole > available() + coming) {
      cut(out, at, whole, available() + coming);
      return false;
    }
    return true;
  }

  const char* skippable() const override { return available() >= kHead ? "record" : nullptr; }
  bool skip_part() override {
    if (skip_left_ == 0)
      skip_left_ = kHead + static_cast<int64_t>(load<uint64_t>(data() + begin_)) + kFoot;
    const int64_t now = std::min(available(), skip_left_);
    begin_ += now;
    skip_left_ -= now;
    return skip_left_ == 0;
  }

  void take_rest(RecordChunk* out) override {
    int64_t whole = kHead;
    if (available() >= kHead) {
      whole += static_cast<int64_t>(load<uint64_t>(data() + begin_)) + kFoot;
    }
    cut(out, offset(), whole, available());
  }

  void cut(RecordChunk* out, int64_t at, int64_t whole, int64_t left) {
    fail_for_good(out, at,
                  "the file is cut: " + std::to_string(left) + " bytes where a " +
                      (whole == kHead ? "header" : "record") + " has " + std::to_string(whole));
  }

  const bool verify_;
  int64_t skip_left_ = 0;   // of a record that is too large
  int64_t checked_to_ = 0;  // lengths before this offset are checked
};

}  // namespace

std::unique_ptr<RecordReader> open_tfrecord(std::string path, const ReaderOptions& options) {
  return std::make_unique<TfRecordReader>(std::move(path), options);
}

}  // namespace penstock
