// Reads records of one length.

#include "io/chunked_reader.h"

namespace penstock {
namespace {

class FixedLengthReader final : public ChunkedReader {
 public:
  FixedLengthReader(std::string path, const ReaderOptions& options, const FixedLayout& layout)
      : ChunkedReader("fixed_length_record", std::move(path), options), layout_(layout) {}

 private:
  int64_t take(RecordChunk* out, int64_t max_records) override {
    const int64_t whole = layout_.record_bytes + layout_.footer_bytes;
    if (!begun_) {
      if (!compressed() && stream().file_bytes() > 0 && !fits(stream().file_bytes())) {
        refuse(out, stream().file_bytes(), Code::invalid_argument);
        return 0;
      }
      if (available() < layout_.header_bytes) return layout_.header_bytes;
      begin_ += layout_.header_bytes;
      begun_ = true;
    }
    while (static_cast<int64_t>(out->records.size()) < max_records) {
      if (available() < whole) return whole;
      give(out, begin_, layout_.record_bytes, offset());
      begin_ += layout_.record_bytes;
    }
    return 0;
  }

  bool empty_rest() const override { return layout_.header_bytes + layout_.footer_bytes > 0; }
  void take_rest(RecordChunk* out) override {
    if (!begun_ || available() != layout_.footer_bytes) {
      refuse(out, offset() + available(),
             compressed() && begun_ ? Code::data_loss : Code::invalid_argument);
    }
    begin_ = end_;
  }

  bool fits(int64_t bytes) const {
    const int64_t body = bytes - layout_.header_bytes - layout_.footer_bytes;
    return body >= 0 && body % layout_.record_bytes == 0;
  }

  void refuse(RecordChunk* out, int64_t bytes, Code code) {
    fail(out, offset(),
         "the file has " + std::to_string(bytes) + " bytes, which is no header of " +
             std::to_string(layout_.header_bytes) + ", footer of " +
             std::to_string(layout_.footer_bytes) + " and whole records of " +
             std::to_string(layout_.record_bytes),
         code);
    finish();
  }

  const FixedLayout layout_;
  bool begun_ = false;
};

}  // namespace

std::unique_ptr<RecordReader> open_fixed_length(std::string path, const ReaderOptions& options,
                                                const FixedLayout& layout) {
  return std::make_unique<FixedLengthReader>(std::move(path), options, layout);
}

}  // namespace penstock
