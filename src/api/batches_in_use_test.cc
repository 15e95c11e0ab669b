// How many large batches are in memory at once.

#include <doctest/doctest.h>

#include <deque>
#include <string>

#include "datasets/datasets.h"
#include "plan/build.h"
#include "runtime/run.h"

namespace penstock {
namespace {

constexpr int64_t kBatchBytes = 40 << 20;  // as the pool rounds 32 MB up

// Batches of 32 MB, made by two threads.
class LargeBatches {
 public:
  explicit LargeBatches(const std::string& end, int rows = 32)
      : iterator_(
            plan_of("range(" + std::to_string(rows) +
                    ") | map(i -> fill([4, 512, 512], float32(i)), num_parallel_calls=2)" + end),
            two_threads(), std::make_shared<PipelineState>()) {}
  bool next(Block* block) { return iterator_.next(block, 1); }
  int64_t peak_bytes() { return iterator_.run().pool().peak_bytes(); }

 private:
  static PlanPtr plan_of(const std::string& text) {
    register_datasets();
    return build_plan(std::make_shared<const Source>(Source{"test", text}), {}).plan;
  }
  static RunOptions two_threads() {
    RunOptions options;
    options.threads = 2;
    return options;
  }
  BlockIterator iterator_;
};

float first(const Block& block) { return *reinterpret_cast<const float*>(block.columns[0].data()); }

// A consumer that keeps its last `kept` batches while it asks for the next one; each must be whole.
int64_t peak_of(LargeBatches* batches, size_t kept) {
  std::deque<Block> held;
  float expected = 0;
  Block block;
  while (batches->next(&block)) {
    CHECK(first(block) == expected);
    expected += 8;
    held.push_back(std::exchange(block, Block()));
    if (held.size() > kept) held.pop_front();
    for (size_t i = 0; i < held.size(); ++i)
      CHECK(first(held[i]) == expected - 8 * static_cast<float>(held.size() - i));
  }
  CHECK(expected == 32);
  return batches->peak_bytes();
}

TEST_CASE("batches in use: two, if the consumer keeps one until it has the next") {
  for (const char* end : {" | batch(8)", " | batch(8) | prefetch()", " | batch(8) | prefetch(1)"}) {
    CAPTURE(end);
    LargeBatches batches(end);
    CHECK(peak_of(&batches, 1) < 2.5 * kBatchBytes);
  }
}

TEST_CASE("batches in use: a consumer may keep all of them") {
  for (const size_t kept : {2, 3, 4}) {
    LargeBatches batches(" | batch(8) | prefetch()");
    CHECK(peak_of(&batches, kept) < static_cast<double>(kept + 2) * kBatchBytes);
  }
}

TEST_CASE("batches in use: a batch of rows of two passes is one buffer") {
  LargeBatches batches(" | repeat(3) | batch(8) | prefetch()", 12);
  const float firsts[] = {0, 8, 4, 0};  // rows of batches 0, 8, 16 and 24, modulo 12
  Block block;
  for (const float expected : firsts) {
    REQUIRE(batches.next(&block));
    CHECK(first(block) == expected);
    block = Block();
  }
  CHECK(batches.peak_bytes() < 2.5 * kBatchBytes);
}

}  // namespace
}  // namespace penstock
