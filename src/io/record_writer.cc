#include "io/record_writer.h"

#include <zlib.h>

#include <span>

#include "base/crc32c.h"
#include "base/error.h"
#include "io/input_stream.h"

namespace penstock {
namespace {

constexpr size_t kFlushBytes = 1 << 20;

template <class T>
void append_value(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

uint32_t masked_crc(std::string_view bytes) {
  return mask_crc(crc32c(std::as_bytes(std::span(bytes))));
}

}  // namespace

class RecordWriter::Deflater {
 public:
  explicit Deflater(bool gzip) {
    const int window_bits = gzip ? 15 + 16 : 15;
    if (deflateInit2(&stream_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, window_bits, 8,
                     Z_DEFAULT_STRATEGY) != Z_OK) {
      throw std::bad_alloc();
    }
  }
  ~Deflater() { deflateEnd(&stream_); }
  Deflater(const Deflater&) = delete;
  Deflater& operator=(const Deflater&) = delete;

  // `bytes` is below 4 GiB.
  void deflate_to(AtomicFile& file, std::string_view bytes, int flush) {
    char out[64 << 10];
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream_.avail_in = static_cast<uInt>(bytes.size());
    do {
      stream_.next_out = reinterpret_cast<Bytef*>(out);
      stream_.avail_out = sizeof out;
      deflate(&stream_, flush);
      file.append({out, sizeof out - stream_.avail_out});
    } while (stream_.avail_out == 0);
  }

 private:
  z_stream stream_{};
};

RecordWriter::RecordWriter(std::string path, std::string_view compression)
    : file_(std::move(path)) {
  const Compression kind = parse_compression(compression);
  if (kind > Compression::zlib) {
    throw Error(Code::invalid_argument,
                "write: records are written plain, GZIP or ZLIB: " + std::string(compression));
  }
  if (kind != Compression::none) deflater_ = std::make_unique<Deflater>(kind == Compression::gzip);
}

RecordWriter::~RecordWriter() = default;

void RecordWriter::write(std::string_view record) {
  const size_t head = pending_.size();
  append_value<uint64_t>(pending_, record.size());
  append_value(pending_, masked_crc({pending_.data() + head, 8}));
  pending_.append(record);
  append_value(pending_, masked_crc(record));
  ++records_;
  if (pending_.size() >= kFlushBytes) flush();
}

void RecordWriter::flush() {
  if (deflater_) {
    std::string_view rest = pending_;
    while (!rest.empty()) {
      const std::string_view part = rest.substr(0, size_t{1} << 30);
      deflater_->deflate_to(file_, part, Z_NO_FLUSH);
      rest.remove_prefix(part.size());
    }
  } else {
    file_.append(pending_);
  }
  pending_.clear();
}

void RecordWriter::close() {
  flush();
  if (deflater_) deflater_->deflate_to(file_, {}, Z_FINISH);
  file_.commit();
}

}  // namespace penstock
