// Kernels of images and sound on one core, each with a reference in the same run: resize of
// 500x375 RGB bytes to 224x224 (GB/s of input, against a copy of the input), the pixel epilogue
// (GB/s read and written, against a copy of as many bytes), JPEG decoding (against libjpeg-turbo),
// PNG decoding (MB/s of pixels, against libpng's own simple interface and libspng, where that is
// installed), and 80 log-mel bands of a second at 16 kHz (us).
//
// Prints one JSON object. --tiny runs a few rounds.

#include <dlfcn.h>
#include <png.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "bench/timing.h"
#include "functions/kernels/image/image_file.h"
#include "functions/kernels/image/jpeg.h"
#include "functions/kernels/image/jpeg_encode.h"
#include "functions/kernels/image/pixels.h"
#include "functions/kernels/image/resize.h"
#include "functions/op.h"

namespace {

using namespace penstock;

std::vector<uint8_t> photo(ImageSize size) {
  std::vector<uint8_t> pixels(static_cast<size_t>(size.elements()));
  uint32_t noise = 1;
  for (int64_t i = 0; i < size.elements(); ++i) {
    noise = noise * 1664525u + 1013904223u;
    const int64_t x = i / size.channels % size.width, y = i / size.channels / size.width;
    pixels[static_cast<size_t>(i)] =
        static_cast<uint8_t>(x / 3 + y / 2 + i % 3 * 40 + (noise >> 28));
  }
  return pixels;
}

double libpng_seconds(const std::string& file, std::vector<uint8_t>* pixels, int rounds) {
  return shortest(rounds, [&] {
    png_image image{};
    image.version = PNG_IMAGE_VERSION;
    png_image_begin_read_from_memory(&image, file.data(), file.size());
    image.format = PNG_FORMAT_RGB;
    png_image_finish_read(&image, nullptr, pixels->data(), 0, nullptr);
  });
}

// Loads libspng from its shared library, as installed by apt install libspng0; returns 0 without
// it.
double libspng_seconds(const std::string& file, std::vector<uint8_t>* pixels, int rounds) {
  void* library = dlopen("libspng.so.0", RTLD_NOW);
  if (library == nullptr) return 0;
  const auto make = reinterpret_cast<void* (*)(int)>(dlsym(library, "spng_ctx_new"));
  const auto give =
      reinterpret_cast<int (*)(void*, const void*, size_t)>(dlsym(library, "spng_set_png_buffer"));
  const auto decode = reinterpret_cast<int (*)(void*, void*, size_t, int, int)>(
      dlsym(library, "spng_decode_image"));
  const auto end = reinterpret_cast<void (*)(void*)>(dlsym(library, "spng_ctx_free"));
  constexpr int kRgb8 = 4;
  bool good = true;
  const double seconds = shortest(rounds, [&] {
    void* context = make(0);
    good &= give(context, file.data(), file.size()) == 0;
    good &= decode(context, pixels->data(), pixels->size(), kRgb8, 0) == 0;
    end(context);
  });
  return good ? seconds : 0;
}

// Decodes a window in the middle of a JPEG file, half of each side or all of it.
double jpeg_seconds(const std::string& file, ImageSize size, bool whole, bool by_library,
                    std::vector<uint8_t>* pixels, int rounds) {
  const JpegDecoding options{.channels = 3, .by_library = by_library};
  const int64_t part = whole ? 1 : 2;
  const int64_t height = size.height / part, width = size.width / part;
  return shortest(rounds, [&] {
    thread_jpeg_decoder().decode_window(file, (size.height - height) / 2, (size.width - width) / 2,
                                        height, width, options,
                                        [&](ImageSize) { return pixels->data(); });
  });
}

// Converts pictures of 224x224 bytes to normalised, mirrored floats, in planes or as pixels, each
// in its slot of a batch of 128; and copies the same number of bytes. In GB/s.
void epilogue_speed(int rounds, double* in_planes, double* as_pixels, double* copy) {
  constexpr size_t kPictures = 128;
  const ImageSize size{224, 224, 3};
  const float mean[] = {123.675f, 116.28f, 103.53f}, deviation[] = {58.395f, 57.12f, 57.375f};
  const auto entries = static_cast<size_t>(size.elements());
  std::vector<uint8_t> pixels(entries * kPictures, 1);
  Tensor batch = Tensor::make(DType::float32, {kPictures, 3, size.height, size.width});
  float* const planes = batch.mutable_entries<float>();
  const size_t copied = entries * 5 / 2;  // sum of bytes read and written
  std::vector<uint8_t> from(copied * kPictures, 1), to(copied * kPictures);
  const double bytes = static_cast<double>(entries) * 5 * kPictures;
  for (const bool planar : {true, false}) {
    double* const ours = planar ? in_planes : as_pixels;
    *ours = bytes / 1e9 / shortest(rounds, [&] {
              for (size_t i = 0; i < kPictures; ++i) {
                normalize_image(pixels.data() + i * entries, size, {mean, deviation, true, planar},
                                planes + i * entries);
              }
            });
  }
  *copy = bytes / 1e9 / shortest(rounds, [&] {
            for (size_t i = 0; i < kPictures; ++i)
              std::memcpy(to.data() + i * copied, from.data() + i * copied, copied);
          });
}

// One call of log_mel_spectrogram with its defaults.
double log_mel_seconds(int rounds) {
  const OpDef* op = OpRegistry::instance().find("log_mel_spectrogram");
  Attrs attrs;
  for (const Param& param : op->params) {
    if (param.kind != Param::Kind::tensor) attrs.set(param.name, param.fallback);
  }
  std::vector<float> signal(16000);
  for (size_t i = 0; i < signal.size(); ++i) signal[i] = static_cast<float>(i % 97) / 97 - 0.5f;
  const Tensor input = Tensor::vector<float>(signal);
  const auto state = op->prepare(attrs);
  return shortest(rounds, [&] {
    Tensor result;
    OutputSlot slot(DType::float32, &result);
    op->row({attrs, state.get(), std::span(&input, 1), std::span(&slot, 1), {}});
  });
}

}  // namespace

int main(int argc, char** argv) {
  const bool tiny = argc > 1 && std::strcmp(argv[1], "--tiny") == 0;
  const int rounds = tiny ? 3 : 300;
  const ImageSize size{375, 500, 3};
  const std::vector<uint8_t> pixels = photo(size);
  std::vector<uint8_t> copy(pixels.size());
  std::vector<float> out(224 * 224 * 3);
  const auto bytes = static_cast<double>(pixels.size());
  const double plain =
      shortest(rounds, [&] { resize_bilinear(pixels.data(), size, 224, 224, false, out.data()); });
  const double smooth =
      shortest(rounds, [&] { resize_bilinear(pixels.data(), size, 224, 224, true, out.data()); });
  const double memory =
      shortest(rounds, [&] { std::memcpy(copy.data(), pixels.data(), pixels.size()); });

  const std::string png = encode_png(pixels.data(), size, false, 6);
  const double ours = shortest(std::max(3, rounds / 10), [&] {
    decode_png(png, {}, [&](ImageSize) { return copy.data(); });
  });
  const int few = std::max(3, rounds / 10);
  const double libpng = libpng_seconds(png, &copy, few);
  const double libspng = libspng_seconds(png, &copy, few);
  const std::string jpeg = encode_jpeg(pixels.data(), size, JpegEncoding{.quality = 90});
  double epilogue = 0, epilogue_pixels = 0, epilogue_copy = 0;
  epilogue_speed(tiny ? 1 : 30, &epilogue, &epilogue_pixels, &epilogue_copy);
  const auto times = [&](bool whole) {
    return jpeg_seconds(jpeg, size, whole, true, &copy, few) /
           jpeg_seconds(jpeg, size, whole, false, &copy, few);
  };
  std::printf("{\"resize_224_bilinear_GBps\": %.3f, \"resize_224_antialias_GBps\": %.3f, "
              "\"memcpy_GBps\": %.3f, \"epilogue_GBps\": %.3f, "
              "\"epilogue_pixels_GBps\": %.3f, \"epilogue_copy_GBps\": %.3f, "
              "\"jpeg_whole_times_libjpeg\": %.3f, \"jpeg_window_times_libjpeg\": %.3f, "
              "\"png_MBps\": %.1f, \"png_libpng_MBps\": %.1f, \"png_libspng_MBps\": %s, "
              "\"log_mel_80_of_1s_us\": %.1f}\n",
              bytes / plain / 1e9, bytes / smooth / 1e9, bytes / memory / 1e9, epilogue,
              epilogue_pixels, epilogue_copy, times(true), times(false), bytes / ours / 1e6,
              bytes / libpng / 1e6,
              libspng > 0 ? std::to_string(bytes / libspng / 1e6).c_str()
                          : "\"skipped: libspng.so.0 is not installed (Debian: libspng0)\"",
              log_mel_seconds(rounds) * 1e6);
  return 0;
}
