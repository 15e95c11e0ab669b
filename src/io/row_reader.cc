// Reads rows of delimited text. Finds the end of a row without quotes by its line end alone; scans
// only rows that hold a quote.

#include <algorithm>
#include <cstring>

#include "io/chunked_reader.h"

namespace penstock {
namespace {

class RowReader final : public ChunkedReader {
 public:
  RowReader(std::string path, const ReaderOptions& options, const RowLayout& layout)
      : ChunkedReader("csv", std::move(path), options), layout_(layout) {}

 private:
  static constexpr int64_t kNone = -1;

  int64_t take(RecordChunk* out, int64_t max_records) override {
    if (const int64_t needed = skip_byte_order_mark(); needed > 0) return needed;
    while (static_cast<int64_t>(out->records.size()) < max_records) {
      if (available() == 0) return 0;
      bool open_quote = false;
      const int64_t size = row_bytes(&open_quote);
      if (size == kNone) {
        if (available() <= kMaxRecordBytes) return 2 * available();
        fail_too_large(out, "it has more than " + std::to_string(kMaxRecordBytes) + " bytes",
                       Code::invalid_argument);
        return 0;
      }
      const char end = data()[begin_ + size];
      // "\r\n" is one line end, and its second byte may not be here yet.
      if (end == '\r' && begin_ + size + 1 == end_ && stream().bytes_left() != 0)
        return available() + 1;
      give_row(out, size);
      begin_ +=
          size +
          (end == '\r' && size + 1 < available() && data()[begin_ + size + 1] == '\n' ? 2 : 1);
    }
    return 0;
  }

  const char* skippable() const override { return "row"; }
  bool skip_part() override {
    header_done_ = true;
    for (; begin_ < end_; ++begin_) {
      const char c = data()[begin_];
      if (skip_.after_cr) {
        if (c == '\n') ++begin_;
        skip_ = {};
        return true;
      }
      if (!skip_.quoted && c == '\n') {
        ++begin_;
        skip_ = {};
        return true;
      }
      if (c == '"') {
        // Two adjacent quotes do not end the field.
        const bool closes = skip_.quoted;
        skip_.quoted = layout_.quotes && !closes && (skip_.after_quote || skip_.at_field);
        skip_.after_quote = closes;
      } else {
        skip_.after_cr = !skip_.quoted && c == '\r';
        skip_.after_quote = false;
      }
      skip_.at_field = !skip_.quoted && c == layout_.delimiter;
    }
    return false;
  }

  bool empty_rest() const override { return layout_.header && !header_done_; }
  void take_rest(RecordChunk* out) override {
    if (available() == 0) {
      fail(out, 0, "the file has no header line", Code::invalid_argument);
      return;
    }
    bool open_quote = false;
    int64_t size = row_bytes(&open_quote);
    if (open_quote) {
      fail_for_good(out, offset(), "a quoted field is never closed", Code::invalid_argument);
      return;
    }
    if (size == kNone) size = available();  // else the file ends with this "\r"
    give_row(out, size);
    begin_ = end_;
  }

  void give_row(RecordChunk* out, int64_t size) {
    if (layout_.header && !header_done_) {
      header_done_ = true;
    } else {
      give(out, begin_, size, offset());
    }
  }

  // Returns the bytes up to the row's line end, or kNone if the window has none.
  int64_t row_bytes(bool* open_quote) const {
    const char* row = data() + begin_;
    const auto room = static_cast<size_t>(available());
    const auto* line_end = static_cast<const char*>(std::memchr(row, '\n', room));
    size_t size = line_end ? static_cast<size_t>(line_end - row) : room;
    if (layout_.quotes && std::memchr(row, '"', size)) return walk(row, available(), open_quote);
    if (const void* cr = std::memchr(row, '\r', size)) return static_cast<const char*>(cr) - row;
    return line_end ? static_cast<int64_t>(size) : kNone;
  }

  int64_t walk(const char* row, int64_t room, bool* open_quote) const {
    bool quoted = false, field_begins = true;
    for (int64_t i = 0; i < room; ++i) {
      const char c = row[i];
      if (quoted) {
        if (c != '"') continue;
        if (i + 1 < room && row[i + 1] == '"') {
          ++i;
        } else {
          quoted = false;
        }
        continue;
      }
      if (c == '\n' || c == '\r') return i;
      quoted = field_begins && c == '"';
      field_begins = c == layout_.delimiter;
    }
    *open_quote = quoted;
    return kNone;
  }

  const RowLayout layout_;
  bool header_done_ = false;
  struct {
    bool quoted = false, after_quote = false, after_cr = false, at_field = true;
  } skip_;  // state of skip_part()
};

}  // namespace

std::unique_ptr<RecordReader> open_rows(std::string path, const ReaderOptions& options,
                                        const RowLayout& layout) {
  return std::make_unique<RowReader>(std::move(path), options, layout);
}

}  // namespace penstock
