// range | map(x + 1) | filter(x % 2 == 0) | batch(128) over int64 on one thread: ns per input
// element, against a bare loop over blocks, with the heap allocations counted.
//
// Prints one JSON object. --tiny runs a thousandth.

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "bench/timing.h"
#include "datasets/datasets.h"
#include "plan/build.h"
#include "runtime/run.h"

namespace {

std::atomic<long> allocations{0};

// The same work by hand: blocks of 4096, compacted, summed so that nothing is optimised away.
double bare_loop(int64_t n, int64_t* sum) {
  const double start = penstock::now_seconds();
  std::vector<int64_t> block(4096), kept(4096), batch(128);
  size_t in_batch = 0;
  for (int64_t first = 0; first < n; first += 4096) {
    const auto rows = static_cast<size_t>(std::min<int64_t>(4096, n - first));
    for (size_t i = 0; i < rows; ++i) block[i] = first + static_cast<int64_t>(i);
    for (size_t i = 0; i < rows; ++i) block[i] += 1;
    size_t k = 0;
    for (size_t i = 0; i < rows; ++i) {
      kept[k] = block[i];
      k += (block[i] & 1) == 0;
    }
    for (size_t i = 0; i < k;) {
      const size_t take = std::min(k - i, 128 - in_batch);
      std::memcpy(&batch[in_batch], &kept[i], take * sizeof(int64_t));
      in_batch += take;
      i += take;
      if (in_batch == 128) {
        *sum += batch[0] + batch[127];
        in_batch = 0;
      }
    }
  }
  return penstock::now_seconds() - start;
}

double pipeline(int64_t n, int64_t* sum, long* allocated) {
  using namespace penstock;
  const std::string text =
      "range(" + std::to_string(n) + ") | map(x -> x + 1) | filter(x -> x % 2 == 0) | batch(128)";
  const BuiltPlan built = build_plan(std::make_shared<const Source>(Source{"bench", text}), {});
  RunOptions options;
  options.threads = 1;
  BlockIterator iterator(built.plan, options, std::make_shared<PipelineState>());
  Block block;
  for (int i = 0; i < 20 && iterator.next(&block, 4096); ++i) *sum += 1;  // warm
  const long before = allocations.load();
  const double start = penstock::now_seconds();
  while (iterator.next(&block, 4096)) *sum += block.columns[0].entries<int64_t>()[0];
  const double seconds = penstock::now_seconds() - start;
  *allocated = allocations.load() - before;
  return seconds;
}

}  // namespace

// Counts every heap allocation: operator new ends in malloc. Sanitizers need their own malloc.
#ifndef __SANITIZE_ADDRESS__
extern "C" {
// NOLINTBEGIN(bugprone-reserved-identifier): glibc's names
void* __libc_malloc(size_t);
void* __libc_memalign(size_t, size_t);
// NOLINTEND(bugprone-reserved-identifier)
void* malloc(size_t size) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  return __libc_malloc(size);
}
void* aligned_alloc(size_t alignment, size_t size) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  return __libc_memalign(alignment, size);
}
}
#endif

int main(int argc, char** argv) {
  const bool tiny = argc > 1 && std::strcmp(argv[1], "--tiny") == 0;
  const int64_t n = tiny ? 20'000 : 20'000'000;
  const int rounds = tiny ? 1 : 5;
  penstock::register_datasets();
  int64_t sum = 0;
  long allocated = 0;
  std::vector<double> ours, bare;
  for (int i = 0; i < rounds; ++i) {
    ours.push_back(1e9 * pipeline(n, &sum, &allocated) / static_cast<double>(n));
    bare.push_back(1e9 * bare_loop(n, &sum) / static_cast<double>(n));
  }
  std::ranges::sort(ours);
  std::ranges::sort(bare);
  const size_t mid = ours.size() / 2;
  std::printf("{\"bench\": \"tiny_chain\", \"unit\": \"ns per input element\", \"median\": %.3f, "
              "\"min\": %.3f, \"max\": %.3f, "
              "\"bare_loop\": %.3f, \"allocations_per_element\": %.6f, \"elements\": %lld, "
              "\"check\": %lld}\n",
              ours[mid], ours.front(), ours.back(), bare[mid],
              static_cast<double>(allocated) / static_cast<double>(n), static_cast<long long>(n),
              static_cast<long long>(sum % 1000));
  return 0;
}
