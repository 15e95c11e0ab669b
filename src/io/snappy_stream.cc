// Decodes SNAPPY in its framing format: chunks of a kind, 24 bits of length, a masked CRC-32C and
// at most 64 KiB of data.

#include <snappy.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/crc32c.h"
#include "io/decoding_stream.h"

namespace penstock {
namespace {

constexpr size_t kMostData = 65536;
constexpr std::string_view kIdentifier = "sNaPpY";

class SnappyStream final : public DecodingStream {
 public:
  SnappyStream(std::string path, int64_t limit_bytes)
      : DecodingStream("snappy: ", std::move(path), limit_bytes) {}

 private:
  enum Kind : uint8_t { kCompressed = 0, kPlain = 1, kFirstSkippable = 0x80, kIdentifies = 0xff };

  size_t decode(std::span<std::byte> out, bool more) override {
    if (at_ < data_.size()) return give(out);
    if (!more && chunk_.empty()) {
      ended_ = true;
      return 0;
    }
    if (!gather(4) || !gather(4 + chunk_bytes())) {
      if (!more) fail_cut();
      return 0;
    }
    open_chunk();
    chunk_.clear();
    return give(out);
  }

  size_t give(std::span<std::byte> out) {
    const size_t n = std::min(out.size(), data_.size() - at_);
    if (n > 0) std::memcpy(out.data(), data_.data() + at_, n);  // an empty chunk has no address
    at_ += n;
    return n;
  }

  size_t chunk_bytes() const {
    const auto byte = [&](size_t i) { return size_t{static_cast<uint8_t>(chunk_[i])}; };
    return byte(1) | byte(2) << 8 | byte(3) << 16;
  }

  // Returns true if chunk_ has `size` bytes.
  bool gather(size_t size) {
    if (chunk_.size() >= size) return true;
    const size_t n = std::min(size - chunk_.size(), available_);
    chunk_.append(reinterpret_cast<const char*>(next_), n);
    next_ += n;
    available_ -= n;
    return chunk_.size() == size;
  }

  void open_chunk() {
    const auto kind = static_cast<uint8_t>(chunk_[0]);
    const std::string_view body = std::string_view(chunk_).substr(4);
    data_.clear();
    at_ = 0;
    if (kind == kIdentifies) {
      if (body != kIdentifier) fail("not a snappy stream");
      identified_ = true;
      return;
    }
    if (!identified_) fail("no stream identifier; only the framing format is read");
    if (kind >= kFirstSkippable) return;
    if (kind > kPlain) fail("a chunk of an unknown kind: " + std::to_string(kind));
    if (body.size() < 4) fail("a chunk without a checksum");
    uint32_t found;
    std::memcpy(&found, body.data(), sizeof found);
    unpack(kind, body.substr(4));
    if (mask_crc(crc32c(std::as_bytes(std::span(data_)))) != found)
      fail("the checksum does not match");
  }

  void unpack(uint8_t kind, std::string_view body) {
    size_t size = body.size();
    if (kind == kCompressed && !snappy::GetUncompressedLength(body.data(), body.size(), &size))
      fail("a chunk without a length");
    if (size > kMostData) fail("a chunk of more than 65536 bytes");
    data_.resize(size);
    if (kind == kPlain) {
      std::memcpy(data_.data(), body.data(), size);
    } else if (!snappy::RawUncompress(body.data(), body.size(), data_.data())) {
      fail("a chunk that cannot be decoded");
    }
  }

  bool identified_ = false;
  std::string chunk_;       // the chunk so far, including its 4 header bytes
  std::vector<char> data_;  // of the last chunk, returned up to at_
  size_t at_ = 0;
};

}  // namespace

std::unique_ptr<InputStream> open_snappy_stream(std::string path, int64_t limit_bytes) {
  return std::make_unique<SnappyStream>(std::move(path), limit_bytes);
}

}  // namespace penstock
