// Reads lines of text.

#include <algorithm>
#include <cstring>

#include "io/chunked_reader.h"

namespace penstock {
namespace {

class TextLineReader final : public ChunkedReader {
 public:
  TextLineReader(std::string path, const ReaderOptions& options, const LineLayout& layout)
      : ChunkedReader(layout.format, std::move(path), options), skip_blank_(layout.skip_blank) {}

 private:
  int64_t take(RecordChunk* out, int64_t max_records) override {
    if (const int64_t needed = skip_byte_order_mark(); needed > 0) return needed;
    while (static_cast<int64_t>(out->records.size()) < max_records) {
      if (available() == 0) return 0;
      const char* line = data() + begin_;
      const void* found = std::memchr(line + seen_, '\n', static_cast<size_t>(available() - seen_));
      if (!found) {
        seen_ = available();
        if (seen_ <= kMaxRecordBytes) return 2 * seen_;
        fail_too_large(out, "it has more than " + std::to_string(kMaxRecordBytes) + " bytes",
                       Code::data_loss);
        return 0;
      }
      seen_ = 0;
      const int64_t size = static_cast<const char*>(found) - line;
      give_line(out, size);
      begin_ += size + 1;
    }
    return 0;
  }

  const char* skippable() const override { return "line"; }
  bool skip_part() override {
    const char* line = data() + begin_;
    const void* found =
        available() > 0 ? std::memchr(line, '\n', static_cast<size_t>(available())) : nullptr;
    begin_ = found ? begin_ + (static_cast<const char*>(found) - line) + 1 : end_;
    seen_ = 0;
    return found != nullptr;
  }

  void take_rest(RecordChunk* out) override {
    give_line(out, available());
    begin_ = end_;
  }

  void give_line(RecordChunk* out, int64_t size) {
    auto* line = const_cast<char*>(data()) + begin_;  // no one else has seen these bytes yet
    int64_t kept = size;
    if (std::memchr(line, '\r', static_cast<size_t>(size))) {
      kept = std::remove(line, line + size, '\r') - line;
    }
    if (skip_blank_ && std::all_of(line, line + kept, [](char c) { return c == ' ' || c == '\t'; }))
      return;
    give(out, begin_, kept, offset());
  }

  const bool skip_blank_;
  int64_t seen_ = 0;  // bytes of the window without a newline
};

}  // namespace

std::unique_ptr<RecordReader> open_text_lines(std::string path, const ReaderOptions& options,
                                              const LineLayout& layout) {
  return std::make_unique<TextLineReader>(std::move(path), options, layout);
}

}  // namespace penstock
