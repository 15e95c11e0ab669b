// Decodes LZ4 frames, one or several.
//
// A failing call does not say how much it wrote. Each call therefore gets only the bytes that the
// library asks for (a block or a checksum), so that data decoded before a fault is not lost.

#include <lz4frame.h>

#include <algorithm>

#include "io/decoding_stream.h"

namespace penstock {
namespace {

class Lz4Stream final : public DecodingStream {
 public:
  Lz4Stream(std::string path, int64_t limit_bytes)
      : DecodingStream("lz4: ", std::move(path), limit_bytes) {
    if (LZ4F_isError(LZ4F_createDecompressionContext(&state_, LZ4F_VERSION)))
      throw std::bad_alloc();
  }
  ~Lz4Stream() override { LZ4F_freeDecompressionContext(state_); }

 private:
  size_t decode(std::span<std::byte> out, bool more) override {
    if (!more && !in_frame_) {
      ended_ = true;
      return 0;
    }
    size_t taken = std::min(available_, wanted_), written = out.size();
    const size_t status = LZ4F_decompress(state_, out.data(), &written, next_, &taken, nullptr);
    if (LZ4F_isError(status)) fail(LZ4F_getErrorName(status));
    next_ += taken;
    available_ -= taken;
    in_frame_ = status != 0;
    wanted_ = in_frame_ ? status : kFirst;
    if (in_frame_ && !more && written == 0) fail_cut();
    return written;
  }

  static constexpr size_t kFirst = LZ4F_HEADER_SIZE_MIN;  // of a frame

  LZ4F_dctx* state_ = nullptr;
  bool in_frame_ = false;
  size_t wanted_ = kFirst;  // bytes that the next call takes
};

}  // namespace

std::unique_ptr<InputStream> open_lz4_stream(std::string path, int64_t limit_bytes) {
  return std::make_unique<Lz4Stream>(std::move(path), limit_bytes);
}

}  // namespace penstock
