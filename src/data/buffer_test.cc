#include "data/buffer.h"

#include <doctest/doctest.h>

#include <cstring>
#include <thread>
#include <vector>

#include "base/error.h"
#include "base/recycled.h"
#include "data/foreign.h"
#include "data/hand_over.h"

namespace penstock {
namespace {

TEST_CASE("buffers are aligned and hold what is asked for") {
  BufferPool pool;
  for (int64_t bytes : {0, 1, 63, 64, 65, 1000, 32 << 10, (32 << 10) + 1, 100'000, 1 << 20,
                        (1 << 20) + 1, 3 << 20, 9 << 20}) {
    const BufferRef buffer = pool.allocate(bytes);
    CHECK(reinterpret_cast<uintptr_t>(buffer.data()) % 64 == 0);
    CHECK(buffer.capacity() >= bytes);
    CHECK(buffer.capacity() <= bytes + bytes / 4 + 128);
    std::memset(buffer.data(), 7, static_cast<size_t>(buffer.capacity()));
  }
  CHECK(pool.used_bytes() == 0);
  CHECK(pool.allocations() == 13);
}

TEST_CASE("a buffer given back is handed out again") {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  constexpr bool kSmallOnes = false;  // the sanitizer must see each of them freed
#else
  constexpr bool kSmallOnes = true;
#endif
  BufferPool pool;
  for (int64_t bytes : {100, 50'000, 2 << 20}) {
    if (!kSmallOnes && bytes <= kMostRecycled) continue;
    const std::byte* first = pool.allocate(bytes).data();
    CHECK(pool.allocate(bytes).data() == first);
  }
}

TEST_CASE("the last reference gives the bytes back") {
  BufferPool pool;
  BufferRef one = pool.allocate(1000);
  CHECK(one.unique());
  BufferRef two = one;
  CHECK(!one.unique());
  CHECK(one == two);
  one = BufferRef();
  CHECK(two.unique());
  CHECK(pool.used_bytes() > 0);
  two = BufferRef();
  CHECK(pool.used_bytes() == 0);
  CHECK(pool.peak_bytes() >= 1000);
}

TEST_CASE("the budget is hard, and kept memory makes room") {
  BufferPool pool(8 << 20);
  {
    const BufferRef one = pool.allocate(5 << 20);
    CHECK_THROWS_AS(pool.allocate(5 << 20), Error);
    CHECK(pool.used_bytes() == one.capacity() + 64);
  }
  // The kept 5 MiB and 6 MiB more do not fit: the pool releases the kept bytes.
  const BufferRef two = pool.allocate(6 << 20);
  CHECK(pool.used_bytes() <= 8 << 20);
  try {
    pool.allocate(int64_t{1} << 50);
    FAIL("not refused");
  } catch (const Error& e) {
    CHECK(e.code() == Code::resource_exhausted);
  }
}

TEST_CASE("kept buffers live as long as their keeper") {
  BufferPool pool;
  BufferRef keeper = pool.allocate(10);
  for (int i = 0; i < 10; ++i) {
    const BufferRef kept = pool.allocate(50'000);
    keeper.keep(kept);
    keeper.keep(kept);
  }
  CHECK(pool.used_bytes() >= 500'000);
  BufferRef second = pool.allocate(10);
  second.keep_all_of(keeper);
  keeper = BufferRef();
  CHECK(pool.used_bytes() >= 500'000);
  second = BufferRef();
  CHECK(pool.used_bytes() == 0);
}

TEST_CASE("long chains of kept buffers go without recursion") {
  BufferPool pool;
  BufferRef last = pool.allocate(1);
  for (int i = 0; i < 200'000; ++i) {
    BufferRef next = pool.allocate(1);
    next.keep(last);
    last = std::move(next);
  }
  last = BufferRef();
  CHECK(pool.used_bytes() == 0);
}

TEST_CASE("ScopedPool nests and is per thread") {
  BufferPool pool;
  CHECK(&current_pool() == &process_pool());
  {
    ScopedPool scope(&pool);
    CHECK(&current_pool() == &pool);
    const BufferRef buffer = allocate_buffer(100);
    CHECK(pool.used_bytes() > 0);
    std::thread([] { CHECK(&current_pool() == &process_pool()); }).join();
  }
  CHECK(&current_pool() == &process_pool());
}

TEST_CASE("threads share a pool") {
  BufferPool pool(64 << 20);
  auto work = [&pool](unsigned seed) {
    std::vector<BufferRef> held(16);
    for (int i = 0; i < 20'000; ++i) {
      seed = seed * 1664525u + 1013904223u;
      const int64_t bytes = (seed >> 8) % 8 == 0 ? 200'000 : (seed >> 12) % 3000 + 1;
      BufferRef buffer = pool.allocate(bytes);
      buffer.data()[0] = std::byte{1};
      held[(seed >> 4) % held.size()] = std::move(buffer);
    }
  };
  std::thread one(work, 1u), two(work, 2u), three(work, 3u);
  one.join();
  two.join();
  three.join();
  CHECK(pool.used_bytes() == 0);
  CHECK(pool.allocations() == 60'000);
}

TEST_CASE("a buffer that is handed over leaves the budget, not the pool") {
  BufferPool pool(8 << 20);
  CHECK(is_unused(pool));
  std::vector<BufferRef> held;
  for (int i = 0; i < 20; ++i) {
    held.push_back(pool.allocate(1 << 20));
    hand_over(held.back());
    hand_over(held.back());
    CHECK(pool.used_bytes() == 0);
  }
  CHECK(!is_unused(pool));
  {
    const BufferRef kept = pool.allocate(4 << 20);
    BufferRef keeper = pool.allocate(100);
    keeper.keep(kept);
    hand_over(keeper);
    CHECK(pool.used_bytes() == 0);
    held.push_back(keeper);
  }
  const std::byte* const last = held[19].data();
  held.clear();
  CHECK(is_unused(pool));
  const BufferRef again = pool.allocate(1 << 20);
  CHECK(again.data() == last);  // the memory is used again and counts again
  CHECK(pool.used_bytes() >= 1 << 20);
}

TEST_CASE("memory of somebody else can be handed over, too") {
  const int64_t budget = process_pool().budget_bytes();
  process_pool().set_budget_bytes(64 << 20);
  const int64_t before = process_pool().used_bytes();
  int released = 0;
  {
    const BufferRef lent = foreign_buffer([&released] { ++released; });
    hand_over(lent);
    CHECK(process_pool().used_bytes() == before);
    CHECK(released == 0);
  }
  CHECK(released == 1);
  CHECK(process_pool().used_bytes() == before);
  process_pool().set_budget_bytes(budget);
}

}  // namespace
}  // namespace penstock