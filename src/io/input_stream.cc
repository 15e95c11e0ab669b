#include "io/input_stream.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/origin_text.h"
#include "io/decoding_stream.h"
#include "io/sequential_file.h"

namespace penstock {
namespace {

class PlainStream final : public InputStream {
 public:
  explicit PlainStream(std::string path) : in_(std::move(path)) {}

  int64_t read(std::span<std::byte> out) override {
    const int64_t got = in_.read(out);
    position_ += got;
    ended_ = got < static_cast<int64_t>(out.size());
    if (got < static_cast<int64_t>(out.size()) && position_ < in_.file().size() &&
        !in_.file().size_is_a_guess()) {
      throw Error(Code::data_loss, at_offset(in_.file().path(), position_) + ": the file had " +
                                       std::to_string(in_.file().size()) +
                                       " bytes when it was opened, and no longer has");
    }
    return got;
  }
  // Files of /proc report no bytes.
  int64_t bytes_left() const override {
    if (in_.file().size() == 0) return -1;
    return ended_ ? 0 : std::max<int64_t>(in_.file().size() - position_, 0);
  }
  int64_t file_bytes() const override { return in_.file().size(); }
  int64_t file_bytes_read() const override { return position_; }

 private:
  SequentialFile in_;
  int64_t position_ = 0;
  bool ended_ = false;  // the last read reached the file's end
};

}  // namespace

Compression parse_compression(std::string_view word) {
  if (word.empty()) return Compression::none;
  if (word == "GZIP") return Compression::gzip;
  if (word == "ZLIB") return Compression::zlib;
  if (word == "ZSTD") return Compression::zstd;
  if (word == "LZ4") return Compression::lz4;
  if (word == "SNAPPY") return Compression::snappy;
  throw Error(Code::invalid_argument,
              "compression must be \"\", \"GZIP\", \"ZLIB\", \"ZSTD\", \"LZ4\" or \"SNAPPY\": \"" +
                  std::string(word) + "\"");
}

bool InputStream::next_chunk(int64_t size, BufferRef* chunk, int64_t* bytes) {
  *chunk = allocate_buffer(size);
  *bytes = read({chunk->data(), static_cast<size_t>(size)});
  return *bytes > 0;
}

std::unique_ptr<InputStream> open_input_stream(std::string path, Compression compression,
                                               int64_t limit_bytes) {
  switch (compression) {
    case Compression::none: return std::make_unique<PlainStream>(std::move(path));
    case Compression::zstd: return open_zstd_stream(std::move(path), limit_bytes);
    case Compression::lz4: return open_lz4_stream(std::move(path), limit_bytes);
    case Compression::snappy: return open_snappy_stream(std::move(path), limit_bytes);
    case Compression::gzip:
    case Compression::zlib: break;
  }
  return open_inflate_stream(std::move(path), compression == Compression::gzip, limit_bytes);
}

}  // namespace penstock
