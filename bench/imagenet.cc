// ImageNet training: parse, decode of a random window, resize to 224, flip, normalise, batches of
// 128 floats. Images per second and CPU per image on two threads, against the bare loop
// (bench_image_loop) over the same files in the same run, in alternation. Then the same of images
// of 1600x1200, with scaled=true, against the bare loop without scaling. Prints one JSON object.

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "bench/image_data.h"
#include "datasets/datasets.h"
#include "optimizer/prepare.h"
#include "plan/build.h"
#include "runtime/run.h"
#include "trace/trace.h"

namespace penstock {
namespace {

const char* const kWindow =
    "random_resized_crop(decode_jpeg(jpeg, channels=3), 224, 224, scale=[0.05, 1.0])";
const char* const kScaledWindow =
    "let (begin, extent, _) = sample_distorted_bounding_box(concat(image_shape(jpeg)[:2], [3]), "
    "zeros([1, 0, 4]), min_object_covered=0.0, aspect_ratio_range=[0.75, 1.3333334], "
    "area_range=[0.05, 1.0], max_attempts=10, use_image_if_no_bounding_boxes=true); "
    "decode_crop_resize(jpeg, [begin[0], begin[1], extent[0], extent[1]], [224, 224], scaled=true)";

std::string records(const std::vector<std::string>& files) {
  std::string names;
  for (const std::string& f : files) names += (names.empty() ? "\"" : ", \"") + f + "\"";
  return "from_tensor_slices([" + names + "]) | interleave(f -> tfrecord(f), cycle_length=4)\n";
}

std::string pipeline(const std::vector<std::string>& files, const std::string& window, int epochs,
                     int threads) {
  return records(files) +
         "| map(r -> let {\"image/encoded\": jpeg, \"image/class/label\": label} = "
         "parse_example(r, {\"image/encoded\": bytes, \"image/class/label\": int64});\n"
         "    let window = " +
         window +
         ";\n"
         "    let image = random_flip_left_right(window);\n"
         "    {image: (image - [123.675, 116.28, 103.53]) / [58.395, 57.12, 57.375], label}, "
         "num_parallel_calls=" +
         std::to_string(threads) +
         ")\n"
         "| repeat(" +
         std::to_string(epochs) + ") | batch(128) | prefetch(1)";
}

PlanPtr plan_of(const std::string& text) {
  return build_plan(std::make_shared<const Source>(Source{"bench", text}), {}).plan;
}

// Photographs of 1600x1200: pictures side by side until they fill it. One file.
std::string large_images(const std::vector<std::string>& files, bool tiny) {
  const std::string path = (std::filesystem::temp_directory_path() /
                            ("penstock-large-images-" + std::to_string(getpid()) + ".tfrecord"))
                               .string();
  const PlanPtr plan =
      plan_of(records(files) + "| take(" + (tiny ? "2" : "96") +
              ") | map(r -> encode_jpeg(tile(decode_jpeg(parse_example(r, {\"image/encoded\": "
              "bytes})[\"image/encoded\"], channels=3), [4, 4, 1])[:1200, :1600], quality=90))");
  BlockIterator iterator(plan, {}, std::make_shared<PipelineState>());
  RecordWriter writer(path);
  Block block;
  while (iterator.next(&block, 1)) {
    if (!block.errors.empty()) throw Error(*block.errors[0].error);
    ExampleWriter example;
    example.set_bytes("image/encoded", block.columns[0].row(0).entry<BytesView>().view());
    example.set_int64("image/class/label", 0);
    writer.write(example.serialize());
  }
  writer.close();
  return path;
}

struct Result {
  double images_per_s = 0, cpu_ms_per_image = 0;
  int64_t peak_buffer_bytes = 0;
};

Result run_pipeline(const std::string& text, int threads) {
  const PlanPtr plan = apply_rules(plan_of(text), {}, nullptr);
  RunOptions options;
  options.threads = threads;
  const double cpu = process_cpu_seconds();
  const int64_t start = now_ns();
  BlockIterator iterator(plan, options, std::make_shared<PipelineState>());
  Block block;
  int64_t images = 0;
  while (iterator.next(&block, 1)) {
    if (!block.errors.empty()) throw Error(*block.errors[0].error);
    images += block.columns[0].dims_of(0)[0];
  }
  const double seconds = static_cast<double>(now_ns() - start) * 1e-9;
  const auto n = static_cast<double>(images);
  return {n / seconds, (process_cpu_seconds() - cpu) * 1000 / n,
          iterator.run().pool().peak_bytes()};
}

nlohmann::json run_bare(const std::string& program, const std::vector<std::string>& files,
                        int epochs, int threads) {
  std::string command =
      program + " --threads " + std::to_string(threads) + " --epochs " + std::to_string(epochs);
  for (const std::string& f : files) command += " " + f;
  std::string text;
  std::FILE* pipe = popen(command.c_str(), "r");
  if (!pipe) throw Error(Code::internal, "cannot run " + program);
  char buffer[4096];
  while (const size_t n = std::fread(buffer, 1, sizeof buffer, pipe)) text.append(buffer, n);
  if (pclose(pipe) != 0) throw Error(Code::internal, program + " failed");
  return nlohmann::json::parse(text);
}

double median(std::vector<double> v) {
  std::ranges::sort(v);
  return v[v.size() / 2];
}

// The pipeline and the bare loop in alternation.
nlohmann::json compare(const std::vector<std::string>& files, const std::string& window, int rounds,
                       int epochs, const std::string& bare_program) {
  std::vector<double> ours, bare, cpu, bare_cpu;
  int64_t peak = 0;
  for (int i = 0; i < rounds; ++i) {
    const Result r = run_pipeline(pipeline(files, window, epochs, 2), 2);
    const nlohmann::json b = run_bare(bare_program, files, epochs, 2);
    ours.push_back(r.images_per_s);
    cpu.push_back(r.cpu_ms_per_image);
    bare.push_back(b["images_per_s"]);
    bare_cpu.push_back(b["cpu_ms_per_image"]);
    peak = std::max(peak, r.peak_buffer_bytes);
  }
  return {{"median", median(ours)},
          {"min", *std::ranges::min_element(ours)},
          {"max", *std::ranges::max_element(ours)},
          {"bare_loop", median(bare)},
          {"ratio", median(ours) / median(bare)},
          {"cpu_ms_per_image", median(cpu)},
          {"bare_cpu_ms_per_image", median(bare_cpu)},
          {"cpu_ratio", median(bare_cpu) / median(cpu)},
          {"peak_buffer_mb", static_cast<double>(peak) / 1e6}};
}

int run(bool tiny, const std::string& self) {
  register_datasets();
  const std::vector<std::string> files = image_files(tiny);
  const std::string bare_program = self.substr(0, self.rfind('/') + 1) + "bench_image_loop";
  const std::string large = large_images(files, tiny);
  nlohmann::json out = compare(files, kWindow, tiny ? 1 : 3, tiny ? 1 : 3, bare_program);
  out["bench"] = "imagenet";
  out["unit"] = "images per second";
  out["scaled_1600x1200"] =
      compare({large}, kScaledWindow, tiny ? 1 : 3, tiny ? 1 : 8, bare_program);
  remove_if_made(files);
  std::filesystem::remove(large);
  std::printf("%s\n", out.dump().c_str());
  return 0;
}

}  // namespace
}  // namespace penstock

int main(int argc, char** argv) {
  try {
    return penstock::run(argc > 1 && std::strcmp(argv[1], "--tiny") == 0, argv[0]);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
