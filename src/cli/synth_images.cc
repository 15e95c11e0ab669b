// Photographs in folders of their classes.

#include <algorithm>
#include <cstdio>

#include "cli/synth_data.h"
#include "cli/synth_image.h"
#include "cli/synth_shards.h"
#include "functions/kernels/image/jpeg_encode.h"
#include "io/file.h"

namespace penstock {
namespace {

constexpr int64_t kClasses = 10;

std::string class_folder(const std::string& folder, int64_t label) {
  return folder + "/train/n0" + std::to_string(1'440'764 + label * 12'345);
}

}  // namespace

SynthSummary synth_images(const std::string& folder, int64_t elements, uint64_t seed) {
  for (int64_t label = 0; label < kClasses; ++label)
    prepare_folder(class_folder(folder, label), elements, 1);
  const int64_t groups = std::max<int64_t>(1, std::min<int64_t>(elements, 64));
  SynthSummary out = write_shards(elements, groups, [&](int64_t, int64_t first, int64_t last) {
    int64_t bytes = 0;
    for (int64_t i = first; i < last; ++i) {
      RandomStream random(seed, 0, static_cast<uint64_t>(i));
      const ImageSize size = photo_size(random);
      const std::vector<uint8_t> pixels = synth_photo(random, size);
      const std::string jpeg = encode_jpeg(pixels.data(), size, 90, true);
      char name[32];
      std::snprintf(name, sizeof name, "/%07d.JPEG", static_cast<int>(i));
      write_file_atomically(class_folder(folder, i % kClasses) + name, jpeg);
      bytes += static_cast<int64_t>(jpeg.size());
    }
    return bytes;
  });
  out.files = elements;
  return out;
}

}  // namespace penstock
