#include "runtime/inline_choice.h"

#include <doctest/doctest.h>

namespace penstock {
namespace {

// A consumer of `work_ns` a block whose blocks cost `block_ns` in its own thread and come every
// `pool_ns` from the pool; the share of blocks it computed itself in the last of `blocks`.
double inlined_share(int64_t work_ns, int64_t block_ns, int64_t pool_ns, bool cheap = true) {
  InlineChoice choice;
  int64_t now = 1, next = 1, inlined = 0;
  constexpr int64_t kBlocks = 400'000;
  for (int64_t i = 0; i < kBlocks; ++i) {
    int64_t waited = 0;
    if (choice.inlined()) {
      now += block_ns;
      ++inlined;
      next = now;
    } else {
      next += pool_ns;
      if (next > now) waited = next - now;
      now += waited;
    }
    choice.took(4096, now, waited, cheap);
    now += work_ns;
  }
  return static_cast<double>(inlined) / static_cast<double>(kBlocks);
}

TEST_CASE("inline choice: threads that bring nothing are not used") {
  CHECK(inlined_share(500, 6'000, 5'500) > 0.95);
}
TEST_CASE("inline choice: threads that bring much are") {
  CHECK(inlined_share(500, 6'000, 3'000) < 0.05);
}
TEST_CASE("inline choice: work is taken off a consumer that has enough to do") {
  CHECK(inlined_share(30'000, 6'000, 5'500) == 0);
}
TEST_CASE("inline choice: dear blocks are the pool's") {
  CHECK(inlined_share(500, 6'000, 5'500, false) == 0);
}

}  // namespace
}  // namespace penstock
