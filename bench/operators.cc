// Measures the cost of each operator: ns of CPU per element of a pipeline with it minus one without
// it, in turn, the best of several rounds. One thread, except for `parallel_map`.
//
// Prints one JSON object. --tiny runs a thousandth.

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "datasets/datasets.h"
#include "plan/build.h"
#include "runtime/run.h"

namespace {

using namespace penstock;

double cpu_ns() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return 1e9 * static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec);
}

double cost_ns(const std::string& text, int threads) {
  const BuiltPlan built = build_plan(std::make_shared<const Source>(Source{"bench", text}), {});
  RunOptions options;
  options.threads = threads;
  BlockIterator iterator(built.plan, options, std::make_shared<PipelineState>());
  Block block;
  const double start = cpu_ns();
  while (iterator.next(&block, 4096)) {
    if (!block.errors.empty()) throw Error(*block.errors[0].error);
  }
  return cpu_ns() - start;
}

struct Case {
  const char* name;
  std::string base;   // subtracted; may be empty
  std::string whole;  // N is replaced by the number of elements
  int64_t elements;
  int threads = 1;
};

std::string filled(std::string text, int64_t n) {
  const std::string number = std::to_string(n);
  for (size_t at = 0; (at = text.find("$N", at)) != std::string::npos;) text.replace(at, 2, number);
  return text;
}

struct Cost {
  double base_ns = 1e300, whole_ns = 1e300;
};

Cost measure(const Case& c, int64_t n, int rounds) {
  Cost out;
  for (int i = 0; i < rounds; ++i) {
    if (!c.base.empty()) out.base_ns = std::min(out.base_ns, cost_ns(filled(c.base, n), c.threads));
    out.whole_ns = std::min(out.whole_ns, cost_ns(filled(c.whole, n), c.threads));
  }
  if (c.base.empty()) out.base_ns = 0;
  return out;
}

// 16 files of lines of 100 bytes.
std::string write_lines(int64_t lines) {
  char name[] = "/tmp/penstock-bench-XXXXXX";
  const std::string folder = ::mkdtemp(name);
  for (int f = 0; f < 16; ++f) {
    std::ofstream out(folder + "/lines-" + std::to_string(10 + f));
    for (int64_t i = 0; i < lines / 16; ++i) out << std::string(99, 'x') << '\n';
  }
  return folder;
}

double copy_ns(int64_t bytes, int rounds) {
  const std::vector<char> from(static_cast<size_t>(bytes), 1);
  std::vector<char> to(static_cast<size_t>(bytes), 2);
  double best = 1e300;
  for (int i = 0; i < rounds; ++i) {
    const double start = cpu_ns();
    std::memcpy(to.data(), from.data(), to.size());
    best = std::min(best, cpu_ns() - start);
  }
  return best + static_cast<double>(to[to.size() / 2] - 1);
}

}  // namespace

int main(int argc, char** argv) {
  const bool tiny = argc > 1 && std::strcmp(argv[1], "--tiny") == 0;
  const int64_t scale = tiny ? 1000 : 1;
  const int rounds = tiny ? 1 : 5;
  register_datasets();
  const std::string folder = write_lines(1'600'000 / scale);
  const std::string files = "files(\"" + folder + "/lines-*\")";
  const std::string kilobytes = "from_tensor_slices(zeros([1000, 256])) | repeat() | take($N)";
  const std::string lengths =
      "from_tensor_slices(arange(1000) * 7919 % 59 + 1) | repeat() | take($N)";
  const std::string ragged = lengths + " | map(n -> fill([n], n))";
  const std::string large = "from_tensor_slices(zeros([20, 150000])) | repeat() | take($N)";
  const std::vector<Case> cases{
      {"tiny_chain_two_cores", "range($N) | map(x -> x + 1) | filter(x -> x % 2 == 0) | batch(128)",
       "range($N) | map(x -> x + 1, num_parallel_calls=2) | filter(x -> x % 2 == 0) | batch(128)",
       20'000'000, 2},
      {"shuffle_int64", "range($N) | batch(128)", "range($N) | shuffle(10000, seed=1) | batch(128)",
       10'000'000},
      {"shuffle_1kb", kilobytes, kilobytes + " | shuffle(10000, seed=1)", 1'000'000},
      {"interleave_16_files", files + " | flat_map(f -> text_line(f))",
       files + " | interleave(f -> text_line(f), cycle_length=16, block_length=1)", 1'600'000},
      {"flat_map_ranges_of_4", "", "range($N // 4) | flat_map(x -> range(4))", 10'000'000},
      {"windows_of_4", "", "range($N) | window(4) | flat_map(w -> w)", 10'000'000},
      {"padded_batch_mean_30", ragged, ragged + " | padded_batch(64)", 1'000'000},
      {"bucket_by_sequence_length", ragged,
       ragged + " | bucket_by_sequence_length(v -> size(v), [8, 16, 24, 32, 40, 48], "
                "[128, 64, 64, 32, 32, 32, 32])",
       1'000'000},
      {"element_of_600kb", "", large + " | map(x -> x)", 1'000'000},
      {"element_of_600kb_prefetched", "", large + " | map(x -> x) | prefetch(8)", 200'000},
  };
  std::printf("{\"bench\": \"operators\", \"unit\": \"ns of CPU per element\"");
  for (const Case& c : cases) {
    const int64_t n = std::max<int64_t>(c.elements / scale, 100);
    const Cost cost = measure(c, filled(c.whole, n) == c.whole ? 0 : n, rounds);
    const auto elements = static_cast<double>(n);
    std::printf(", \"%s\": {\"added\": %.2f, \"whole\": %.2f, \"base\": %.2f}", c.name,
                (cost.whole_ns - cost.base_ns) / elements, cost.whole_ns / elements,
                cost.base_ns / elements);
  }
  // A batch of 64 rows with lengths to 59 is about 58 wide.
  const int64_t rows = 1'000'000 / scale;
  std::printf(", \"copy_of_padded_batches\": %.2f}\n",
              copy_ns(rows * 58 * 8, rounds) / static_cast<double>(rows));
  std::filesystem::remove_all(folder);
  return 0;
}
