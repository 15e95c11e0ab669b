// Images with objects: boxes, classes and masks.

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "cli/synth_data.h"
#include "cli/synth_image.h"
#include "cli/synth_shards.h"
#include "functions/kernels/image/image_file.h"
#include "functions/kernels/image/jpeg_encode.h"
#include "functions/kernels/parse/example_writer.h"

namespace penstock {
namespace {

struct Box {
  float y0, x0, y1, x1;  // of the image's sides
};

Box random_box(RandomStream& random) {
  const float height = 0.05f + 0.6f * random.next_float() * random.next_float();
  const float width = 0.05f + 0.6f * random.next_float() * random.next_float();
  const float y0 = (1 - height) * random.next_float(), x0 = (1 - width) * random.next_float();
  return {y0, x0, y0 + height, x0 + width};
}

// 1 inside the ellipse that fills the box.
std::string mask_of(const Box& box, ImageSize image) {
  std::vector<uint8_t> pixels(static_cast<size_t>(image.height * image.width));
  for (int64_t y = 0; y < image.height; ++y) {
    for (int64_t x = 0; x < image.width; ++x) {
      const float v = (static_cast<float>(y) / static_cast<float>(image.height) - box.y0) /
                          (box.y1 - box.y0) * 2 -
                      1;
      const float u = (static_cast<float>(x) / static_cast<float>(image.width) - box.x0) /
                          (box.x1 - box.x0) * 2 -
                      1;
      pixels[static_cast<size_t>(y * image.width + x)] = u * u + v * v <= 1;
    }
  }
  return encode_png(pixels.data(), {image.height, image.width, 1}, false, 1);
}

ImageSize coco_size(RandomStream& random) {
  if (random.next_below(4) == 0) return {640, 480, 3};
  return {random.next_below(3) == 0 ? 427 : 480, 640, 3};
}

std::string coco_example(uint64_t seed, int64_t index) {
  // Class numbers of COCO.
  static constexpr std::array<int64_t, 8> kClasses = {1, 3, 17, 44, 62, 67, 84, 90};
  RandomStream random(seed, 0, static_cast<uint64_t>(index));
  const ImageSize size = coco_size(random);
  const std::vector<uint8_t> pixels = synth_photo(random, size);
  const uint64_t count = index % 50 == 5 ? 0 : 1 + random.next_below(8);
  std::vector<float> y0, x0, y1, x1;
  std::vector<int64_t> classes, crowd;
  std::vector<std::string> masks;
  for (uint64_t i = 0; i < count; ++i) {
    const Box box = random_box(random);
    y0.push_back(box.y0);
    x0.push_back(box.x0);
    y1.push_back(box.y1);
    x1.push_back(box.x1);
    classes.push_back(kClasses[random.next_below(kClasses.size())]);
    crowd.push_back(i > 0 && random.next_below(20) == 0);
    masks.push_back(mask_of(box, size));
  }
  const std::vector<std::string_view> views(masks.begin(), masks.end());
  ExampleWriter example;
  example.set_bytes("image/encoded", encode_jpeg(pixels.data(), size, 90, true));
  example.set_bytes("image/source_id", std::to_string(100'000 + index));
  example.set_int64("image/height", size.height);
  example.set_int64("image/width", size.width);
  example.set_floats("image/object/bbox/ymin", y0);
  example.set_floats("image/object/bbox/xmin", x0);
  example.set_floats("image/object/bbox/ymax", y1);
  example.set_floats("image/object/bbox/xmax", x1);
  example.set_int64s("image/object/class/label", classes);
  example.set_int64s("image/object/is_crowd", crowd);
  example.set_bytes("image/object/mask", views);
  return example.serialize();
}

}  // namespace

SynthSummary synth_coco(const std::string& folder, int64_t elements, uint64_t seed,
                        int64_t shards) {
  prepare_folder(folder, elements, shards);
  return write_shards(elements, shards, [&](int64_t shard, int64_t first, int64_t last) {
    return write_records(shard_path(folder, "train", shard, shards), first, last,
                         [seed](int64_t i) { return coco_example(seed, i); });
  });
}

}  // namespace penstock
