// The bare image loop: the speed of the hardware without a pipeline system.
//
//   image_loop [--threads N] [--epochs E] [--full] [--tiny] [FILE.tfrecord...]
//
// Each record is a tf.train.Example with image/encoded. Every image takes a random window, is
// decoded (only the window, or with --full the whole image, which is then cropped), resized to
// 224x224, mirrored every other time, normalised, and written into its slot of a batch of 128.
// Prints one line of JSON.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/error.h"
#include "bench/image_data.h"
#include "functions/kernels/image/bounding_box.h"
#include "functions/kernels/image/jpeg.h"
#include "functions/kernels/image/pixels.h"
#include "functions/kernels/image/resize.h"

namespace penstock {
namespace {

constexpr int64_t kSide = 224;
constexpr int64_t kBatch = 128;
constexpr ImageSize kOut{kSide, kSide, 3};

struct Options {
  int threads = 1;
  int epochs = 1;
  bool full = false;
  std::vector<std::string> files;
  bool made = false;  // the files, by this program
};

[[noreturn]] void bad(const std::string& what) {
  throw Error(Code::invalid_argument, "image_loop: " + what);
}

uint64_t read_varint(std::string_view& bytes) {
  uint64_t value = 0;
  for (int shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
    const auto byte = static_cast<uint8_t>(bytes.front());
    bytes.remove_prefix(1);
    value |= uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) return value;
  }
  bad("record is no Example: cut varint");
}

// Finds the next length-delimited field with number `wanted`; skips others. Returns false at the
// end.
bool next_field(std::string_view& message, uint64_t wanted, std::string_view& field) {
  while (!message.empty()) {
    const uint64_t tag = read_varint(message);
    if ((tag & 7) != 2) bad("record is no Example: wire type " + std::to_string(tag & 7));
    const uint64_t length = read_varint(message);
    if (length > message.size()) bad("record is no Example: cut field");
    field = message.substr(0, length);
    message.remove_prefix(length);
    if (tag >> 3 == wanted) return true;
  }
  return false;
}

std::string_view encoded_image(std::string_view example) {
  std::string_view features, entry;
  while (next_field(example, 1, features)) {
    while (next_field(features, 1, entry)) {
      std::string_view rest = entry, key, feature, list, value;
      if (!next_field(rest, 1, key) || key != "image/encoded") continue;
      if (next_field(rest, 2, feature) && next_field(feature, 1, list) &&
          next_field(list, 1, value)) {
        return value;
      }
    }
  }
  bad("record without image/encoded");
}

// Finds the images of a TFRecord file, as views into `bytes`; does not verify checksums.
void find_images(std::string_view bytes, std::vector<std::string_view>& images) {
  while (!bytes.empty()) {
    uint64_t length = 0;
    if (bytes.size() < 16) bad("TFRecord file is cut");
    std::memcpy(&length, bytes.data(), sizeof length);
    if (length > bytes.size() - 16) bad("TFRecord file is cut");
    images.push_back(encoded_image(bytes.substr(12, length)));
    bytes.remove_prefix(length + 16);
  }
}

// splitmix64, seeded by the image's number.
struct Words {
  uint64_t state;
  uint32_t operator()() {
    uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return static_cast<uint32_t>(z >> 32);
  }
};

struct Scratch {
  std::vector<uint8_t> pixels, window;
  std::vector<float> resized = std::vector<float>(static_cast<size_t>(kOut.elements()));
  std::vector<float> batch = std::vector<float>(static_cast<size_t>(kBatch * kOut.elements()));
};

void load(std::string_view file, int64_t number, bool full, Scratch& scratch) {
  static constexpr float mean[] = {123.68f, 116.78f, 103.94f};
  static constexpr float deviation[] = {58.393f, 57.12f, 57.375f};
  Words words{static_cast<uint64_t>(number)};
  const ImageSize image = jpeg_shape(file);
  DistortedBox options;
  options.use_image_if_no_bounding_boxes = true;
  const Window window =
      sample_distorted_bounding_box(image.height, image.width, {}, options, words);
  const ImageSize size{window.height, window.width, 3};
  const auto room = [&scratch](ImageSize wanted) {
    scratch.pixels.resize(static_cast<size_t>(wanted.elements()));
    return scratch.pixels.data();
  };
  const JpegDecoding library{.channels = 3, .by_library = true};
  const uint8_t* pixels = nullptr;
  if (full) {
    thread_jpeg_decoder().decode(file, library, room);
    scratch.window.resize(static_cast<size_t>(size.elements()));
    crop(scratch.pixels.data(), {image.height, image.width, 3}, 1, window.y, window.x,
         window.height, window.width, scratch.window.data());
    pixels = scratch.window.data();
  } else {
    thread_jpeg_decoder().decode_window(file, window.y, window.x, window.height, window.width,
                                        library, room);
    pixels = scratch.pixels.data();
  }
  resize_bilinear(pixels, size, kSide, kSide, false, scratch.resized.data());
  const Epilogue epilogue{mean, deviation, (words() & 1) != 0, false};
  float* slot = scratch.batch.data() + number % kBatch * kOut.elements();
  normalize_image(scratch.resized.data(), kOut, epilogue, slot);
}

Options parse(int count, char** words) {
  Options options;
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    if (word == "--full") {
      options.full = true;
    } else if ((word == "--threads" || word == "--epochs") && i + 1 < count) {
      (word == "--threads" ? options.threads : options.epochs) = std::max(1, std::stoi(words[++i]));
    } else if (word == "--tiny") {
      options.files = image_files(true);
      options.made = true;
    } else if (word.starts_with("--")) {
      bad("unknown flag: " + word);
    } else {
      options.files.push_back(word);
    }
  }
  if (options.files.empty()) {
    options.files = image_files(false);
    options.made = true;
  }
  return options;
}

std::string read_file(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) bad("cannot open: " + path);
  return std::string(std::istreambuf_iterator<char>(stream), {});
}

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

void work(const std::vector<std::string_view>& images, const Options& options,
          std::atomic<int64_t>& next) {
  Scratch scratch;
  const auto count = static_cast<int64_t>(images.size());
  for (int64_t i = next++; i < count * options.epochs; i = next++) {
    load(images[static_cast<size_t>(i % count)], i, options.full, scratch);
  }
}

void run(const Options& options) {
  std::vector<std::string> files;
  for (const std::string& path : options.files) files.push_back(read_file(path));
  std::vector<std::string_view> images;
  for (const std::string& bytes : files) find_images(bytes, images);
  if (images.empty()) bad("no images in the files");

  std::atomic<int64_t> next{0};
  const double cpu_before = cpu_seconds();
  const auto before = std::chrono::steady_clock::now();
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < options.threads; ++i) {
      threads.emplace_back([&] {
        try {
          work(images, options, next);
        } catch (const std::exception& error) {
          std::fprintf(stderr, "%s\n", error.what());
          std::_Exit(1);
        }
      });
    }
  }
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - before;
  if (options.made) remove_if_made(options.files);  // those of a caller are the caller's
  const double total = static_cast<double>(images.size()) * options.epochs;
  std::printf("{\"images_per_s\": %.1f, \"cpu_ms_per_image\": %.4f, \"threads\": %d, "
              "\"images\": %.0f}\n",
              total / wall.count(), (cpu_seconds() - cpu_before) * 1000 / total, options.threads,
              total);
}

}  // namespace
}  // namespace penstock

int main(int count, char** words) {
  try {
    penstock::run(penstock::parse(count, words));
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
