// Parsing and text: ns per row of functions over a block of rows, on one thread.
//
// image_record: an Example with 100 kB of bytes, a label and six more features, two of them read.
// small_features: 26 integers, 13 floats and a label, all read.
// split_lookup: a line of 20 words cut at spaces and looked up among 32768.
// Prints one JSON object. --tiny runs a hundredth.

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "bench/timing.h"
#include "datasets/datasets.h"
#include "functions/evaluate.h"
#include "functions/kernels/parse/example_writer.h"
#include "plan/build.h"
#include "plan/node.h"

namespace {

using namespace penstock;

constexpr int64_t kRows = 1024;

// The function of the one map in `text`.
FunctionPtr function_of(const std::string& text) {
  const BuiltPlan built = build_plan(std::make_shared<const Source>(Source{"bench", text}), {});
  if (!built.plan || built.plan->functions.empty()) {
    std::fprintf(stderr, "no function in: %s\n", text.c_str());
    std::exit(1);
  }
  return built.plan->functions[0].second;
}

// The best of some runs: ns per row.
double ns_per_row(const std::string& lambda, const std::vector<std::string>& rows, int rounds) {
  const CompiledFunction function(function_of("tfrecord(\"/dev/null\") | map(" + lambda + ")"), {});
  const std::vector<std::string_view> views(rows.begin(), rows.end());
  const Tensor all = Tensor::of_strings(views);
  double best = 1e9;
  for (int i = 0; i < rounds; ++i) {
    Block in, out;
    in.rows = static_cast<int64_t>(rows.size());
    in.columns = {
        Column::dense(DType::bytes, {}, in.rows, all.buffer(), const_cast<std::byte*>(all.data()))};
    const double start = now_seconds();
    function.run(in, &out);
    const double seconds = now_seconds() - start;
    if (!out.errors.empty()) {
      std::fprintf(stderr, "%s\n", out.errors[0].error->what());
      std::exit(1);
    }
    best = std::min(best, seconds * 1e9 / static_cast<double>(rows.size()));
  }
  return best;
}

std::vector<std::string> image_records() {
  std::vector<std::string> out;
  const std::string bytes(100'000, 'x');
  for (int64_t i = 0; i < 256; ++i) {
    ExampleWriter writer;
    writer.set_bytes("image/encoded", bytes);
    writer.set_int64("image/class/label", i);
    writer.set_int64("image/height", 375);
    writer.set_int64("image/width", 500);
    writer.set_bytes("image/format", "JPEG");
    writer.set_bytes("image/filename", "n01440764_10026.JPEG");
    writer.set_bytes("image/class/synset", "n01440764");
    writer.set_int64s("image/object/bbox/label", std::vector<int64_t>{i, i});
    out.push_back(writer.serialize());
  }
  return out;
}

std::string small_features(std::vector<std::string>* rows) {
  std::string table;
  for (int64_t r = 0; r < kRows; ++r) {
    ExampleWriter writer;
    for (int64_t k = 0; k < 40; ++k) {
      const std::string key = "f" + std::to_string(k);
      if (k < 27) {
        writer.set_int64(key, r * 7919 + k);
      } else {
        const float value = static_cast<float>(r) / static_cast<float>(k);
        writer.set_floats(key, std::span(&value, 1));
      }
    }
    rows->push_back(writer.serialize());
  }
  for (int k = 0; k < 40; ++k)
    table += "f" + std::to_string(k) + (k < 27 ? ": int64, " : ": float32, ");
  return "r -> parse_example(r, {" + table + "})";
}

std::string split_lookup(std::vector<std::string>* rows) {
  const std::string path = "/tmp/penstock_bench_words.txt";
  std::ofstream file(path);
  for (int i = 0; i < 32768; ++i) file << "word" << i << "\n";
  file.close();
  uint32_t state = 1;
  for (int64_t r = 0; r < kRows; ++r) {
    std::string line;
    for (int w = 0; w < 20; ++w) {
      state = state * 1664525 + 1013904223;
      line += (w ? " word" : "word") + std::to_string((state >> 12) % 40000);
    }
    rows->push_back(line);
  }
  return "s -> lookup(vocabulary(\"" + path + "\", default=0), split(s))";
}

}  // namespace

int main(int argc, char** argv) {
  register_datasets();
  const int rounds = argc > 1 && std::strcmp(argv[1], "--tiny") == 0 ? 2 : 200;
  const double image =
      ns_per_row("r -> parse_example(r, {\"image/encoded\": bytes, \"image/class/label\": int64})",
                 image_records(), rounds);
  std::vector<std::string> small, lines;
  const std::string parse_small = small_features(&small), lookup = split_lookup(&lines);
  const double features = ns_per_row(parse_small, small, rounds);
  const double words = ns_per_row(lookup, lines, rounds);
  const double cut = ns_per_row("s -> split(s)", lines, rounds);
  std::printf(
      "{\"parse_example_image_ns\": %.0f, \"parse_example_40_ns\": %.0f, \"split_ns\": %.0f, "
      "\"split_lookup_ns\": %.0f}\n",
      image, features, cut, words);
}
