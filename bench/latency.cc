// Latency mode: how long one element takes, a JPEG of about 100 KB that is decoded and resized,
// asked for one by one; the bare decoder and resize in turn with it. Prints one JSON object, in
// microseconds. --tiny takes twenty small images.

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "bench/image_data.h"
#include "datasets/datasets.h"
#include "functions/kernels/image/jpeg.h"
#include "functions/kernels/image/resize.h"
#include "plan/build.h"
#include "runtime/counters.h"
#include "runtime/run.h"

namespace penstock {
namespace {

constexpr ImageSize kSmall{224, 224, 3};

// Returns noise on a gradient, with the file size of a photograph.
std::string make_jpeg(const ImageSize& size) {
  std::vector<uint8_t> pixels(static_cast<size_t>(size.elements()));
  std::mt19937 random(1);
  for (size_t k = 0; k < pixels.size(); ++k)
    pixels[k] = static_cast<uint8_t>((k / 9 % 180) + random() % 60);
  return encode_jpeg(pixels.data(), size, 90, true);
}

double microseconds(int64_t from) { return static_cast<double>(now_ns() - from) * 1e-3; }

double bare(const std::string& jpeg, std::vector<uint8_t>* pixels, std::vector<float>* resized) {
  const int64_t start = now_ns();
  ImageSize size{};
  thread_jpeg_decoder().decode(jpeg, {3}, [&](ImageSize wanted) {
    size = wanted;
    pixels->resize(static_cast<size_t>(wanted.elements()));
    return pixels->data();
  });
  resize_bilinear(pixels->data(), size, kSmall.height, kSmall.width, false, resized->data());
  return microseconds(start);
}

double at(std::vector<double> times, double share) {
  std::ranges::sort(times);
  return times[static_cast<size_t>(share * static_cast<double>(times.size() - 1))];
}

int run(bool tiny) {
  const int count = tiny ? 20 : 3000;
  const std::string jpeg = make_jpeg(tiny ? ImageSize{60, 80, 3} : ImageSize{375, 500, 3});
  const std::string file = (std::filesystem::temp_directory_path() /
                            ("penstock-latency-" + std::to_string(getpid()) + ".tfrecord"))
                               .string();
  RecordWriter writer(file);
  for (int i = 0; i < count; ++i) writer.write(jpeg);
  writer.close();
  const BuiltPlan built = build_plan(
      std::make_shared<const Source>(Source{
          "bench",
          "tfrecord(\"" + file + "\") | map(r -> resize(decode_jpeg(r, channels=3), [224, 224]))"}),
      {});
  RunOptions options;
  options.latency = true;
  options.block_rows = 1;
  std::vector<double> ours, theirs;
  std::vector<uint8_t> pixels;
  std::vector<float> resized(static_cast<size_t>(kSmall.elements()));
  {
    BlockIterator iterator(built.plan, options, std::make_shared<PipelineState>());
    Block block;
    for (int i = 0; i < count; ++i) {
      const int64_t start = now_ns();
      if (!iterator.next(&block, 1)) break;
      ours.push_back(microseconds(start));
      theirs.push_back(bare(jpeg, &pixels, &resized));
    }
  }
  std::filesystem::remove(file);
  std::printf("{\"bench\": \"latency\", \"unit\": \"us\", \"jpeg_bytes\": %zu, "
              "\"penstock\": {\"p50\": %.1f, \"p99\": %.1f}, "
              "\"bare\": {\"p50\": %.1f, \"p99\": %.1f}, \"p99_ratio\": %.3f}\n",
              jpeg.size(), at(ours, 0.5), at(ours, 0.99), at(theirs, 0.5), at(theirs, 0.99),
              at(ours, 0.99) / at(theirs, 0.99));
  return 0;
}

}  // namespace
}  // namespace penstock

int main(int argc, char** argv) {
  penstock::register_datasets();
  return penstock::run(argc > 1 && std::strcmp(argv[1], "--tiny") == 0);
}
