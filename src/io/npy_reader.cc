// Reads rows of array files.

#include <algorithm>

#include "io/chunked_reader.h"
#include "io/npy.h"

namespace penstock {
namespace {

class NpyReader final : public ChunkedReader {
 public:
  NpyReader(std::string path, const ReaderOptions& options, DType dtype, const Shape& row)
      : ChunkedReader("npy", path, options), path_(std::move(path)), dtype_(dtype), row_(row) {}

 private:
  int64_t take(RecordChunk* out, int64_t max_records) override {
    if (!begun_) {
      if (const int64_t needed = begin(); needed > 0) return needed;
    }
    while (left_ > 0 && static_cast<int64_t>(out->records.size()) < max_records) {
      if (available() < row_bytes_) return row_bytes_;
      give(out, begin_, row_bytes_, offset());
      begin_ += row_bytes_;
      --left_;
    }
    if (out->records.empty() && available() > 0)
      fail_for_good(out, offset(), "bytes follow the last row of the array");
    return 0;
  }

  // Reads the header; returns the bytes it needs, 0 when done. Throws its errors.
  int64_t begin() {
    if (available() < kNpyPrefix) return kNpyPrefix;
    const std::string_view bytes(data() + begin_, static_cast<size_t>(available()));
    try {
      if (const int64_t needed = npy_header_bytes(bytes); available() < needed) return needed;
      const NpyHeader header = parse_npy_header(bytes);
      if (header.dtype != dtype_ || !row_.admits(header.row)) {
        throw Error(Code::invalid_argument,
                    "its rows are " + LeafSpec::tensor(header.dtype, Shape(header.row)).text() +
                        ", expected " + LeafSpec::tensor(dtype_, row_).text());
      }
      row_bytes_ = header.row.entries() * dtype_size(header.dtype);
      left_ = header.rows;
      begin_ += header.bytes;
      begun_ = true;
      return 0;
    } catch (const Error& e) {
      throw Error(e.code(), path_ + ": " + e.message());
    }
  }

  bool empty_rest() const override { return !begun_ || left_ > 0; }
  void take_rest(RecordChunk* out) override {
    if (begun_ && left_ == 0) return;
    fail_for_good(out, offset(),
                  begun_ ? "the file is cut: " + std::to_string(left_) + " rows are missing"
                         : "the file is cut in its header");
  }

  const std::string path_;
  const DType dtype_;
  const Shape row_;
  bool begun_ = false;
  int64_t left_ = 0, row_bytes_ = 0;
};

}  // namespace

std::unique_ptr<RecordReader> open_npy(std::string path, const ReaderOptions& options, DType dtype,
                                       const Shape& row) {
  return std::make_unique<NpyReader>(std::move(path), options, dtype, row);
}

}  // namespace penstock
