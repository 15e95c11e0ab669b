// Images for the image benches: the demo's, or a few made on the spot.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "functions/kernels/image/jpeg_encode.h"
#include "functions/kernels/parse/example_writer.h"
#include "io/record_writer.h"

namespace penstock {

// TFRecord shards of Examples with image/encoded and image/class/label. `tiny`: eight small images
// in a folder of its own under the temporary one; else those of ./dev demo, which must have been
// made.
inline std::vector<std::string> image_files(bool tiny) {
  namespace fs = std::filesystem;
  std::vector<std::string> out;
  const fs::path demo = "build/demo/imagenet";
  if (!tiny && fs::exists(demo)) {
    for (const auto& entry : fs::directory_iterator(demo)) {
      if (entry.path().filename().string().starts_with("train-"))
        out.push_back(entry.path().string());
    }
    return out;
  }
  const std::string path =
      (fs::temp_directory_path() / ("penstock-bench-" + std::to_string(getpid()) + ".tfrecord"))
          .string();
  RecordWriter writer(path);
  const ImageSize size{120, 160, 3};
  std::vector<uint8_t> pixels(static_cast<size_t>(size.elements()));
  for (int i = 0; i < 8; ++i) {
    for (size_t k = 0; k < pixels.size(); ++k)
      pixels[k] = static_cast<uint8_t>(
          (k / 3 % 160 + k / 480 * 2 + static_cast<size_t>(i) * 16 + k * 7 % 5) & 255);
    ExampleWriter example;
    example.set_bytes("image/encoded", encode_jpeg(pixels.data(), size, 90, true));
    example.set_int64("image/class/label", i);
    writer.write(example.serialize());
  }
  writer.close();
  out.push_back(path);
  return out;
}

inline void remove_if_made(const std::vector<std::string>& files) {
  for (const std::string& f : files) {
    if (f.find("penstock-bench-") != std::string::npos) std::filesystem::remove(f);
  }
}

}  // namespace penstock
