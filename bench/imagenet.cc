// ImageNet training: parse, decode of a random window, resize to 224, flip, normalise, batches of
// 128 floats. Images per second and CPU per image on two threads, against the bare loop
// (bench_image_loop) over the same files in the same run, in alternation. Prints one JSON object.

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>

#include "bench/image_data.h"
#include "datasets/datasets.h"
#include "optimizer/prepare.h"
#include "plan/build.h"
#include "runtime/run.h"
#include "trace/trace.h"

namespace penstock {
namespace {

std::string pipeline(const std::vector<std::string>& files, int epochs, int threads) {
  std::string names;
  for (const std::string& f : files) names += (names.empty() ? "\"" : ", \"") + f + "\"";
  return "from_tensor_slices([" + names +
         "]) | interleave(f -> tfrecord(f), cycle_length=4)\n"
         "| map(r -> let {\"image/encoded\": jpeg, \"image/class/label\": label} = "
         "parse_example(r, {\"image/encoded\": bytes, \"image/class/label\": int64});\n"
         "    let image = random_flip_left_right(random_resized_crop(decode_jpeg(jpeg, "
         "channels=3), 224, 224, scale=[0.05, 1.0]));\n"
         "    {image: (image - [123.675, 116.28, 103.53]) / [58.395, 57.12, 57.375], label}, "
         "num_parallel_calls=" +
         std::to_string(threads) +
         ")\n"
         "| repeat(" +
         std::to_string(epochs) + ") | batch(128) | prefetch(1)";
}

struct Result {
  double images_per_s = 0, cpu_ms_per_image = 0;
  int64_t peak_buffer_bytes = 0;
};

Result run_pipeline(const std::vector<std::string>& files, int epochs, int threads) {
  const BuiltPlan built = build_plan(
      std::make_shared<const Source>(Source{"bench", pipeline(files, epochs, threads)}), {});
  const PlanPtr plan = apply_rules(built.plan, {}, nullptr);
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

int run(bool tiny, const std::string& self) {
  register_datasets();
  const std::vector<std::string> files = image_files(tiny);
  const std::string bare_program = self.substr(0, self.rfind('/') + 1) + "bench_image_loop";
  const int rounds = tiny ? 1 : 3, epochs = tiny ? 1 : 3;
  std::vector<double> ours, bare, cpu, bare_cpu;
  int64_t peak = 0;
  for (int i = 0; i < rounds; ++i) {
    const Result r = run_pipeline(files, epochs, 2);
    const nlohmann::json b = run_bare(bare_program, files, epochs, 2);
    ours.push_back(r.images_per_s);
    cpu.push_back(r.cpu_ms_per_image);
    bare.push_back(b["images_per_s"]);
    bare_cpu.push_back(b["cpu_ms_per_image"]);
    peak = std::max(peak, r.peak_buffer_bytes);
  }
  remove_if_made(files);
  std::printf("{\"bench\": \"imagenet\", \"unit\": \"images per second\", \"median\": %.1f, "
              "\"min\": %.1f, \"max\": %.1f, \"bare_loop\": %.1f, "
              "\"ratio\": %.3f, \"cpu_ms_per_image\": %.4f, \"bare_cpu_ms_per_image\": %.4f, "
              "\"peak_buffer_mb\": %.1f}\n",
              median(ours), *std::ranges::min_element(ours), *std::ranges::max_element(ours),
              median(bare), median(ours) / median(bare), median(cpu), median(bare_cpu),
              static_cast<double>(peak) / 1e6);
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
