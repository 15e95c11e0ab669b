// Decodes the bytes of a zip member with ISA-L.

#include <isa-l/crc.h>
#include <isa-l/igzip_lib.h>

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "base/origin_text.h"
#include "data/buffer.h"
#include "io/zip.h"

namespace penstock {
namespace {

constexpr int64_t kHeaderBytes = 30;
constexpr int64_t kWindowBytes = 256 << 10;
constexpr int64_t kMostExpansion = 1100;
constexpr int64_t kAlwaysAllowed = 64 << 20;

class MemberStream final : public ZipMemberStream {
 public:
  MemberStream(const File& file, const ZipMember& member, int64_t limit_bytes)
      : file_(file), member_(member) {
    if (limit_bytes <= 0)
      limit_bytes = kAlwaysAllowed +
                    kMostExpansion * std::min(member.stored_bytes, INT64_MAX / 2 / kMostExpansion);
    if (member_.bytes > limit_bytes) {
      fail("unpacks to " + std::to_string(member_.bytes) + " bytes, more than " +
               std::to_string(limit_bytes) + "; if it is meant to, raise max_decompressed_bytes",
           Code::resource_exhausted);
    }
    if (!member_.deflated && member_.bytes != member_.stored_bytes)
      fail("its sizes do not fit each other");
    skip_header();
    isal_inflate_init(&state_);
    state_.crc_flag = ISAL_DEFLATE;
  }

  void read(std::span<std::byte> out) override {
    if (static_cast<int64_t>(out.size()) > member_.bytes - given_) fail("it is shorter than that");
    if (out.empty()) return;
    if (member_.deflated) {
      inflate(out);
    } else {
      copy(out);
    }
    crc_ = crc32_gzip_refl(crc_, reinterpret_cast<const unsigned char*>(out.data()), out.size());
    given_ += static_cast<int64_t>(out.size());
    if (given_ == member_.bytes && crc_ != member_.crc32) fail("the checksum does not match");
  }
  int64_t file_bytes_read() const override { return read_; }

 private:
  [[noreturn]] void fail(const std::string& what, Code code = Code::data_loss) const {
    throw Error(code, at_offset(file_.path(), member_.header_offset + read_) + ": " + member_.name +
                          ": " + what);
  }

  void skip_header() {
    std::byte header[kHeaderBytes];
    const int64_t got = file_.pread(header, member_.header_offset);
    const auto two = [&](int at) {
      return std::to_integer<int64_t>(header[at]) | std::to_integer<int64_t>(header[at + 1]) << 8;
    };
    if (got < kHeaderBytes || std::memcmp(header, "PK\3\4", 4) != 0)
      fail("no member's header stands there");
    begin_ = member_.header_offset + kHeaderBytes + two(26) + two(28);
    if (member_.stored_bytes > file_.size() - begin_) fail("the archive is cut");
  }

  // Reads at least one more byte of the member, as stored in the file.
  void fill() {
    if (!window_) window_ = allocate_buffer(std::min(kWindowBytes, member_.stored_bytes + 1));
    const int64_t most = std::min(member_.stored_bytes - read_, window_.capacity());
    const int64_t got = file_.pread({window_.data(), static_cast<size_t>(most)}, begin_ + read_);
    if (got <= 0) fail("the member is cut");
    read_ += got;
    next_ = window_.data();
    available_ = static_cast<size_t>(got);
  }

  void copy(std::span<std::byte> out) {
    while (!out.empty()) {
      if (available_ == 0 && static_cast<int64_t>(out.size()) >= kWindowBytes) {
        const int64_t got = file_.pread(out, begin_ + read_);
        read_ += got;
        if (got < static_cast<int64_t>(out.size())) fail("the member is cut");
        return;
      }
      if (available_ == 0) fill();
      const size_t size = std::min(available_, out.size());
      std::memcpy(out.data(), next_, size);
      next_ += size;
      available_ -= size;
      out = out.subspan(size);
    }
  }

  void inflate(std::span<std::byte> out) {
    while (!out.empty()) {
      if (available_ == 0 && read_ < member_.stored_bytes) fill();
      const auto room = static_cast<uint32_t>(std::min<size_t>(out.size(), 1 << 30));
      const size_t had = available_;
      state_.next_in = reinterpret_cast<uint8_t*>(next_);
      state_.avail_in = static_cast<uint32_t>(available_);
      state_.next_out = reinterpret_cast<uint8_t*>(out.data());
      state_.avail_out = room;
      const int status = isal_inflate(&state_);
      next_ = reinterpret_cast<std::byte*>(state_.next_in);
      available_ = state_.avail_in;
      const size_t written = room - state_.avail_out;
      if (status < 0) fail("not a deflate stream");
      if (written == 0 && available_ == had && read_ == member_.stored_bytes)
        fail("the compressed stream is cut");
      out = out.subspan(written);
      if (state_.block_state == ISAL_BLOCK_FINISH && !out.empty())
        fail("the compressed stream is shorter than the member");
    }
  }

  const File& file_;
  const ZipMember member_;
  int64_t begin_ = 0, read_ = 0, given_ = 0;
  uint32_t crc_ = 0;
  BufferRef window_;
  std::byte* next_ = nullptr;
  size_t available_ = 0;
  inflate_state state_{};
};

}  // namespace

std::unique_ptr<ZipMemberStream> open_zip_member(const File& file, const ZipMember& member,
                                                 int64_t limit_bytes) {
  return std::make_unique<MemberStream>(file, member, limit_bytes);
}

}  // namespace penstock
