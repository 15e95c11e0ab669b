#include "runtime/byte_budget.h"

#include <doctest/doctest.h>

#include <algorithm>

namespace penstock {
namespace {

constexpr int64_t kMiB = 1 << 20;

struct FakeRun {
  explicit FakeRun(int64_t most_bytes) { member = {&pool, most_bytes, 0, 0}; }
  BufferPool pool;
  ByteBudget::Member member;
};

TEST_CASE("byte budget: a run that is alone has what it was given") {
  ByteBudget budget(64 * kMiB);
  FakeRun a(64 * kMiB);
  budget.join(&a.member);
  CHECK(a.pool.budget_bytes() == 64 * kMiB);
  budget.set_aside(&a.member, 10 * kMiB);
  CHECK(a.pool.budget_bytes() == 54 * kMiB);
  budget.set_aside(&a.member, -10 * kMiB);
  budget.leave(&a.member);
}

TEST_CASE("byte budget: what one run uses the other has not, down to its fair share") {
  ByteBudget budget(64 * kMiB);
  FakeRun a(64 * kMiB), b(64 * kMiB);
  budget.join(&a.member);
  budget.join(&b.member);
  CHECK(a.pool.budget_bytes() == 56 * kMiB);  // a quarter of the other's share is kept
  BufferRef held = a.pool.allocate(16 * kMiB);
  budget.follow_use();
  CHECK(b.pool.budget_bytes() == 64 * kMiB - a.pool.used_bytes());
  held = BufferRef();
  held = a.pool.allocate(50 * kMiB);
  budget.follow_use();
  CHECK(b.pool.budget_bytes() == 32 * kMiB);
  const BufferRef other = b.pool.allocate(30 * kMiB);
  budget.follow_use();
  CHECK(a.pool.budget_bytes() ==
        std::max(32 * kMiB, 64 * kMiB - b.pool.used_bytes()));  // its work ahead stops
  budget.leave(&b.member);
  CHECK(a.pool.budget_bytes() == 64 * kMiB);
  held = BufferRef();
}

TEST_CASE("byte budget: a run never has more than it was given") {
  ByteBudget budget(64 * kMiB);
  FakeRun small(4 * kMiB), large(64 * kMiB);
  budget.join(&small.member);
  budget.join(&large.member);
  CHECK(small.pool.budget_bytes() == 4 * kMiB);
  CHECK(large.pool.budget_bytes() == 60 * kMiB);
  budget.set_aside(&small.member, kMiB);
  CHECK(small.pool.budget_bytes() == 3 * kMiB);
}

}  // namespace
}  // namespace penstock
