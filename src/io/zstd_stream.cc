// Decodes ZSTD, one frame or several. The library refuses frames with a window above 128 MiB.
//
// A failing call does not say how much it wrote. Each call therefore gets only the bytes that the
// library asks for (a block or a checksum), so that data decoded before a fault is not lost.

#include <zstd.h>

#include <algorithm>

#include "io/decoding_stream.h"

namespace penstock {
namespace {

class ZstdStream final : public DecodingStream {
 public:
  ZstdStream(std::string path, int64_t limit_bytes)
      : DecodingStream("zstd: ", std::move(path), limit_bytes), state_(ZSTD_createDStream()) {
    if (!state_) throw std::bad_alloc();
  }
  ~ZstdStream() override { ZSTD_freeDStream(state_); }

 private:
  size_t decode(std::span<std::byte> out, bool more) override {
    if (!more && !in_frame_) {
      ended_ = true;
      return 0;
    }
    ZSTD_inBuffer from{next_, std::min(available_, wanted_), 0};
    ZSTD_outBuffer to{out.data(), out.size(), 0};
    const size_t status = ZSTD_decompressStream(state_, &to, &from);
    next_ += from.pos;
    available_ -= from.pos;
    if (ZSTD_isError(status)) fail(ZSTD_getErrorName(status));
    in_frame_ = status != 0;
    wanted_ = in_frame_ ? status : kFirst;
    if (in_frame_ && !more && to.pos == 0) fail_cut();
    return to.pos;
  }

  static constexpr size_t kFirst = 5;  // of a frame: enough to know its kind

  ZSTD_DStream* state_;
  bool in_frame_ = false;
  size_t wanted_ = kFirst;  // bytes that the next call takes
};

}  // namespace

std::unique_ptr<InputStream> open_zstd_stream(std::string path, int64_t limit_bytes) {
  return std::make_unique<ZstdStream>(std::move(path), limit_bytes);
}

}  // namespace penstock
