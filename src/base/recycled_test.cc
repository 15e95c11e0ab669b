#include "base/recycled.h"

#include <doctest/doctest.h>

#include <cstring>
#include <iterator>
#include <set>
#include <thread>

namespace penstock {
namespace {

TEST_CASE("size classes: each holds its bytes, four a power of two") {
  for (int64_t bytes = 1; bytes <= kMostRecycled + 1; ++bytes) {
    const int index = size_class_of(bytes);
    CHECK(size_class_bytes(index) >= bytes);
    if (bytes > kSmallestClass) CHECK(size_class_bytes(index - 1) < bytes);
  }
}

TEST_CASE("recycled blocks: aligned, and no two in use are one") {
  for (const size_t bytes : {1, 64, 65, 4096, 33000, 40960, 41000}) {
    std::set<void*> used;
    for (int round = 0; round < 3; ++round) {
      for (int i = 0; i < 300; ++i) {
        void* memory = take_recycled(bytes);
        CHECK(reinterpret_cast<uintptr_t>(memory) % 64 == 0);
        std::memset(memory, 1, bytes);
        CHECK(used.insert(memory).second);
      }
      for (void* memory : used) give_recycled(memory, bytes);
      used.clear();
    }
  }
}

TEST_CASE("recycled blocks that other threads gave back: each is taken once") {
  constexpr int kBlocks = 1000;
  for (int round = 0; round < 5; ++round) {
    std::set<void*> used;
    for (int i = 0; i < kBlocks; ++i) CHECK(used.insert(take_recycled(4096)).second);
    std::thread first([half = std::next(used.begin(), kBlocks / 2), &used] {
      for (auto at = used.begin(); at != half; ++at) give_recycled(*at, 4096);
    });
    std::thread second([half = std::next(used.begin(), kBlocks / 2), &used] {
      for (auto at = half; at != used.end(); ++at) give_recycled(*at, 4096);
    });
    first.join();
    second.join();
  }
}

}  // namespace
}  // namespace penstock
