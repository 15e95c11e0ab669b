// ZSTD: one frame or several. Frames whose window is above 128 MiB are refused by the library.

#include <zstd.h>

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
    ZSTD_inBuffer from{next_, available_, 0};
    ZSTD_outBuffer to{out.data(), out.size(), 0};
    const size_t status = ZSTD_decompressStream(state_, &to, &from);
    next_ += from.pos;
    available_ -= from.pos;
    if (ZSTD_isError(status)) fail(ZSTD_getErrorName(status));
    in_frame_ = status != 0;
    if (in_frame_ && !more && to.pos == 0) fail_cut();
    return to.pos;
  }

  ZSTD_DStream* state_;
  bool in_frame_ = false;
};

}  // namespace

std::unique_ptr<InputStream> open_zstd_stream(std::string path, int64_t limit_bytes) {
  return std::make_unique<ZstdStream>(std::move(path), limit_bytes);
}

}  // namespace penstock
