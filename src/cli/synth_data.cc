#include "cli/synth_data.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <vector>

#include "base/error.h"
#include "base/random.h"
#include "cli/synth_image.h"
#include "cli/synth_shards.h"
#include "cli/synth_words.h"
#include "functions/kernels/image/jpeg_encode.h"
#include "functions/kernels/parse/example_writer.h"
#include "io/file.h"
#include "io/record_writer.h"

namespace penstock {
namespace {

void add_boxes(ExampleWriter& example, RandomStream& random, int64_t label) {
  std::vector<float> sides[4];  // xmin, ymin, xmax, ymax
  std::vector<int64_t> labels;
  for (uint64_t n = random.next_below(4); n > 0; --n) {
    for (size_t axis = 0; axis < 2; ++axis) {
      const float a = random.next_float(), b = random.next_float();
      sides[axis].push_back(std::min(a, b));
      sides[axis + 2].push_back(std::max(a, b));
    }
    labels.push_back(label);
  }
  static constexpr std::array kNames = {"xmin", "ymin", "xmax", "ymax"};
  for (size_t i = 0; i < 4; ++i) {
    example.set_floats(std::string("image/object/bbox/") + kNames[i], sides[i]);
  }
  example.set_int64s("image/object/bbox/label", labels);
}

std::string image_example(uint64_t seed, int64_t index) {
  RandomStream random(seed, 0, static_cast<uint64_t>(index));
  const ImageSize size = photo_size(random);
  const auto label = static_cast<int64_t>(1 + random.next_below(1000));
  const bool chroma_420 = random.next_below(5) != 0;
  const int quality = static_cast<int>(86 + random.next_below(9));
  const std::vector<uint8_t> pixels = synth_photo(random, size);
  char synset[16];
  std::snprintf(synset, sizeof synset, "n%08d", static_cast<int>(1'440'000 + label * 137));
  ExampleWriter example;
  example.set_bytes("image/encoded", encode_jpeg(pixels.data(), size, quality, chroma_420));
  example.set_int64("image/height", size.height);
  example.set_int64("image/width", size.width);
  example.set_bytes("image/colorspace", "RGB");
  example.set_int64("image/channels", 3);
  example.set_bytes("image/format", "JPEG");
  example.set_bytes("image/filename", std::string(synset) + "_" + std::to_string(index) + ".JPEG");
  example.set_int64("image/class/label", label);
  example.set_bytes("image/class/synset", synset);
  example.set_bytes("image/class/text", word_of(static_cast<uint64_t>(label)) + ", " +
                                            word_of(static_cast<uint64_t>(label) + 1000));
  add_boxes(example, random, label);
  return example.serialize();
}

void append_line(std::string& out, uint64_t seed, int64_t index) {
  RandomStream random(seed, 0, static_cast<uint64_t>(index));
  out += std::to_string(index) + '\t';
  for (uint64_t n = 4 + random.next_below(21); n > 0; --n) {
    out += common_word(random);
    out += n > 1 ? ' ' : '\t';
  }
  append_fixed(out, random.next_double() * 200 - 100, 4);
  out += '\t' + std::to_string(random.next_below(10)) + '\n';
}

struct NumberRow {
  int64_t label;
  std::array<float, 16> dense;
  std::vector<int64_t> ids;
};

NumberRow number_row(uint64_t seed, int64_t index) {
  RandomStream random(seed, 0, static_cast<uint64_t>(index));
  NumberRow row;
  row.label = static_cast<int64_t>(random.next_below(10));
  for (float& value : row.dense) value = random.next_float() * 2 - 1;
  row.ids.resize(random.next_below(21));
  for (int64_t& id : row.ids) {
    id = static_cast<int64_t>(
        std::pow(1e6, random.next_double()));  // small ids are the most frequent
  }
  return row;
}

std::string number_example(uint64_t seed, int64_t index) {
  const NumberRow row = number_row(seed, index);
  ExampleWriter example;
  example.set_int64("id", index);
  example.set_int64("label", row.label);
  example.set_floats("dense", row.dense);
  example.set_int64s("ids", row.ids);
  return example.serialize();
}

int64_t write_csv(const std::string& path, int64_t elements, uint64_t seed) {
  AtomicFile file(path);
  std::string text = "id,label,dense_0,dense_1,dense_2,dense_3\n";
  for (int64_t i = 0; i < elements; ++i) {
    const NumberRow row = number_row(seed, i);
    text += std::to_string(i) + ',' + std::to_string(row.label);
    for (size_t d = 0; d < 4; ++d) {
      text += ',';
      append_fixed(text, static_cast<double>(row.dense[d]), 6);
    }
    text += '\n';
    if (text.size() > 1 << 20) {
      file.append(text);
      text.clear();
    }
  }
  file.append(text);
  file.commit();
  return file.bytes();
}

}  // namespace

SynthSummary synth_imagenet(const std::string& folder, int64_t elements, uint64_t seed,
                            int64_t shards, const std::string& split) {
  prepare_folder(folder, elements, shards);
  return write_shards(elements, shards, [&](int64_t shard, int64_t first, int64_t last) {
    return write_records(shard_path(folder, split.c_str(), shard, shards), first, last,
                         [seed](int64_t i) { return image_example(seed, i); });
  });
}

SynthSummary synth_text(const std::string& folder, int64_t elements, uint64_t seed,
                        int64_t shards) {
  prepare_folder(folder, elements, shards);
  return write_shards(elements, shards, [&](int64_t shard, int64_t first, int64_t last) {
    AtomicFile file(shard_path(folder, "text", shard, shards, ".txt"));
    std::string lines;
    for (int64_t i = first; i < last; ++i) {
      append_line(lines, seed, i);
      if (lines.size() > 1 << 20 || i + 1 == last) {
        file.append(lines);
        lines.clear();
      }
    }
    file.commit();
    return file.bytes();
  });
}

SynthSummary synth_numbers(const std::string& folder, int64_t elements, uint64_t seed,
                           int64_t shards) {
  prepare_folder(folder, elements, shards);
  SynthSummary out =
      write_shards(elements, shards, [&](int64_t shard, int64_t first, int64_t last) {
        return write_records(shard_path(folder, "numbers", shard, shards), first, last,
                             [seed](int64_t i) { return number_example(seed, i); });
      });
  ++out.files;
  out.bytes += write_csv(folder + "/numbers.csv", elements, seed);
  return out;
}

}  // namespace penstock
