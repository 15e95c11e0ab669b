// WebP, still or moving, with libwebp.
#include <webp/decode.h>
#include <webp/demux.h>

#include <cstring>
#include <memory>
#include <string>

#include "data/charged.h"
#include "functions/kernels/image/image_file.h"

namespace penstock {
namespace {

struct Deleter {
  void operator()(WebPAnimDecoder* decoder) const { WebPAnimDecoderDelete(decoder); }
};

void decode_still(const uint8_t* bytes, size_t count, ImageSize size, const ImageDecoding& options,
                  uint8_t* pixels) {
  if (pixels == nullptr) return;
  const auto stride = static_cast<int>(size.width * size.channels);
  const auto room = static_cast<size_t>(size.elements());
  const uint8_t* done = size.channels == 4 ? WebPDecodeRGBAInto(bytes, count, pixels, room, stride)
                                           : WebPDecodeRGBInto(bytes, count, pixels, room, stride);
  if (done == nullptr) fail_decoding(options, Code::data_loss, "WebP file is cut or damaged");
}

// Frames come as RGBA canvases.
void decode_moving(WebPAnimDecoder* decoder, int64_t frames, ImageSize canvas,
                   const ImageDecoding& options, uint8_t* pixels) {
  if (pixels == nullptr) return;
  const int64_t count = canvas.height * canvas.width;
  for (int64_t i = 0; i < frames; ++i) {
    uint8_t* from = nullptr;
    int time_ms = 0;
    if (WebPAnimDecoderGetNext(decoder, &from, &time_ms) == 0) {
      fail_decoding(options, Code::data_loss,
                    "WebP file is cut or damaged: frame " + std::to_string(i));
    }
    for (int64_t p = 0; p < count; ++p, pixels += canvas.channels) {
      std::memcpy(pixels, from + 4 * p, static_cast<size_t>(canvas.channels));
    }
  }
}

}  // namespace

void decode_webp(std::string_view file, const ImageDecoding& options, bool first_only,
                 int64_t* frames, PixelSink allocate) {
  if (image_format(file) != ImageFormat::webp) refuse_format(options.who, "WebP", file);
  const auto* bytes = reinterpret_cast<const uint8_t*>(file.data());
  WebPBitstreamFeatures features;
  if (WebPGetFeatures(bytes, file.size(), &features) != VP8_STATUS_OK) {
    fail_decoding(options, Code::invalid_argument, "bad WebP header");
  }
  const int stored = features.has_alpha != 0 ? 4 : 3;
  const int channels = options.channels != 0 ? options.channels : stored;
  if (channels != 3 && channels != 4) {
    fail_decoding(options, Code::invalid_argument,
                  "channels must be 0, 3 or 4 for WebP: " + std::to_string(channels));
  }
  ImageSize size{features.height, features.width, channels};
  check_claimed_size(options, size, file.size());
  *frames = 1;
  // Lossless pixels and alpha are held as words of 32 bits, and some tables; a moving picture has
  // two canvases more.
  const bool held = features.format != 1 || features.has_alpha != 0;
  const Charge work(features.has_animation != 0 ? 2 * 8 * size.height * size.width
                    : held                      ? 8 * size.height * size.width
                                                : 0);
  if (features.has_animation == 0) {
    return decode_still(bytes, file.size(), size, options, allocate(size));
  }
  const WebPData data{bytes, file.size()};
  const std::unique_ptr<WebPAnimDecoder, Deleter> decoder(WebPAnimDecoderNew(&data, nullptr));
  WebPAnimInfo info;
  if (decoder == nullptr || WebPAnimDecoderGetInfo(decoder.get(), &info) == 0) {
    fail_decoding(options, Code::data_loss, "WebP file is cut or damaged");
  }
  if (info.frame_count > 1 && options.one_picture) {
    refuse_moving(options, info.frame_count, "WebP");
  }
  *frames = first_only ? 1 : info.frame_count;
  const ImageSize canvas = size;
  size.height *= *frames;
  check_claimed_size(options, size, file.size());
  decode_moving(decoder.get(), *frames, canvas, options, allocate(size));
}

}  // namespace penstock
