#include "data/charged.h"

#include <doctest/doctest.h>

#include <utility>

#include "base/error.h"

namespace penstock {
namespace {

TEST_CASE("large vectors and strings count against the budget, small ones do not") {
  BufferPool pool(1 << 20);
  const ScopedPool scope(&pool);
  ChargedVector<int32_t> small(100);
  CHECK(pool.used_bytes() == 0);
  {
    ChargedVector<int32_t> large(100'000, 7);
    CHECK(pool.used_bytes() >= 400'000);
    CHECK(large[99'999] == 7);
    CHECK_THROWS_AS(large.resize(1 << 20), Error);
    ChargedString text(300'000, 'x');
    CHECK(pool.used_bytes() >= 700'000);
    CHECK_THROWS_AS(text.append(1 << 20, 'y'), Error);
    CHECK(text.size() == 300'000);
  }
  CHECK(pool.used_bytes() == 0);
}

TEST_CASE("a charged vector belongs to the pool that it was made in") {
  BufferPool first(1 << 20), second(1 << 20);
  ChargedVector<int64_t> held;
  {
    const ScopedPool scope(&first);
    held.resize(50'000);
  }
  {
    const ScopedPool scope(&second);
    ChargedVector<int64_t> moved = std::move(held);
    CHECK(second.used_bytes() == 0);
    moved.resize(60'000);
    CHECK(second.used_bytes() >= 480'000);
    CHECK(first.used_bytes() == 0);
  }
  CHECK(second.used_bytes() == 0);
}

TEST_CASE("a charge counts for as long as it lives") {
  BufferPool pool(1 << 20);
  const ScopedPool scope(&pool);
  {
    const Charge charge(900'000);
    CHECK(pool.used_bytes() >= 900'000);
    CHECK_THROWS_AS(Charge(900'000), Error);
  }
  CHECK(pool.used_bytes() == 0);
}

TEST_CASE("a limit holds for what is taken inside, less what is given back") {
  BufferPool pool;
  const ScopedPool scope(&pool);
  BufferRef before = pool.allocate(1 << 20);
  const ScopedLimit limit(1 << 20);
  for (int i = 0; i < 10; ++i) pool.allocate(800'000);  // one after the other
  CHECK(!limit.exceeded());
  {
    const BufferRef held = pool.allocate(600'000);
    CHECK_THROWS_AS(pool.allocate(600'000), Error);
    CHECK(limit.exceeded());
    const ScopedLimit inner(2 << 20);
    pool.allocate(1'500'000);
    CHECK(!inner.exceeded());
  }
}

}  // namespace
}  // namespace penstock
