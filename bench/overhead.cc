// Measures the counters: range | map(x + 1) | filter(x % 2 == 0) | batch(128) with and without
// them, in turn, on one thread; in blocks as they come, and in blocks of 128 rows where counting
// weighs most. Beside them what the machine takes to read its cycle counter and to add to an atomic
// number, of which counting consists.
//
// Prints one JSON object. --tiny runs a thousandth.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <vector>

#include "datasets/datasets.h"
#include "plan/build.h"
#include "runtime/run.h"

namespace {

using namespace penstock;

double ns_per_element(int64_t n, int64_t block_rows, bool count) {
  const std::string text =
      "range(" + std::to_string(n) + ") | map(x -> x + 1) | filter(x -> x % 2 == 0) | batch(128)";
  const BuiltPlan built = build_plan(std::make_shared<const Source>(Source{"bench", text}), {});
  RunOptions options;
  options.threads = 1;
  options.block_rows = block_rows;
  options.count = count;
  BlockIterator iterator(built.plan, options, std::make_shared<PipelineState>());
  Block block;
  const auto start = std::chrono::steady_clock::now();
  while (iterator.next(&block, 4096)) {
  }
  const std::chrono::duration<double, std::nano> spent = std::chrono::steady_clock::now() - start;
  return spent.count() / static_cast<double>(n);
}

struct Cost {
  double with, without;
  double percent() const { return 100 * (with / without - 1); }
};

// Medians of alternating runs.
Cost measure(int64_t n, int64_t block_rows, int rounds) {
  std::vector<double> with, without;
  for (int i = 0; i < rounds; ++i) {
    with.push_back(ns_per_element(n, block_rows, true));
    without.push_back(ns_per_element(n, block_rows, false));
  }
  std::ranges::sort(with);
  std::ranges::sort(without);
  return {with[with.size() / 2], without[without.size() / 2]};
}

template <typename F>
double ns_per_call(int n, F&& f) {
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < n; ++i) f();
  const std::chrono::duration<double, std::nano> spent = std::chrono::steady_clock::now() - start;
  return spent.count() / n;
}

}  // namespace

int main(int argc, char** argv) {
  const bool tiny = argc > 1 && std::strcmp(argv[1], "--tiny") == 0;
  register_datasets();
  const int rounds = tiny ? 1 : 11;
  const Cost whole = measure(tiny ? 10'000 : 10'000'000, 4096, rounds);
  const Cost small = measure(tiny ? 1'000 : 1'000'000, 128, rounds);
  const int calls = tiny ? 1'000 : 10'000'000;
  std::atomic<uint64_t> sum{0};
  const double tick_ns = ns_per_call(calls, [&] { sum.store(ticks(), std::memory_order_relaxed); });
  const double add_ns = ns_per_call(calls, [&] { sum.fetch_add(1, std::memory_order_relaxed); });
  // Four stages count a block of 128 rows each.
  std::printf("{\"bench\": \"overhead\", \"unit\": \"ns per input element\", "
              "\"counted\": %.3f, \"uncounted\": %.3f, \"percent\": %.2f, "
              "\"blocks_of_128\": {\"counted\": %.3f, \"uncounted\": %.3f, \"percent\": %.2f, "
              "\"ns_per_block_and_stage\": %.1f}, \"rdtsc_ns\": %.1f, \"atomic_add_ns\": %.1f}\n",
              whole.with, whole.without, whole.percent(), small.with, small.without,
              small.percent(), (small.with - small.without) * 128 / 4, tick_ns, add_ns);
  return 0;
}
