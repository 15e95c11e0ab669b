#include "runtime/core_budget.h"

#include <doctest/doctest.h>

#include <memory>

#include "runtime/scheduler.h"

namespace penstock {
namespace {

class Pool final : public CoreBudget::Member {
 public:
  void core_came() override { ++told; }
  int told = 0;
};

int take_all(CoreBudget* budget, Pool* pool) {
  int taken = 0;
  while (taken < 100 && budget->take(pool)) ++taken;
  return taken;
}

TEST_CASE("core budget: a pool that is alone is not limited") {
  CoreBudget budget(2);
  Pool a;
  budget.join(&a, 2);
  CHECK(take_all(&budget, &a) == 100);
}

TEST_CASE("core budget: a pool has its fair share at once, and borrows what is free") {
  CoreBudget budget(4);
  Pool a, b;
  budget.join(&a, 4);
  budget.join(&b, 4);
  CHECK(take_all(&budget, &a) == 4);  // two of them borrowed
  CHECK(take_all(&budget, &b) == 2);  // its share, though all cores are taken
  budget.give_back(&a);
  CHECK(b.told == 1);
  CHECK_FALSE(budget.take(&b));
  CHECK_FALSE(budget.take(&a));
  budget.give_back(&a);
  budget.give_back(&a);
  CHECK(b.told == 2);
  CHECK(a.told == 2);
  CHECK(budget.take(&a));
  CHECK_FALSE(budget.take(&a));
  budget.leave(&a);
  CHECK(budget.take(&b));
}

TEST_CASE("core budget: a pool that was made with more threads than there are cores has them") {
  CoreBudget budget(2);
  Pool a, b;
  budget.join(&a, 8);
  budget.join(&b, 2);
  CHECK(take_all(&budget, &a) == 8);
  CHECK(take_all(&budget, &b) == 4);
}

class CountedTask final : public Task {
 public:
  struct Counts {
    std::atomic<int> running{0}, most{0}, done{0};
  };
  explicit CountedTask(std::shared_ptr<Counts> counts) : counts_(std::move(counts)) {}
  void run() override {
    const int now = counts_->running.fetch_add(1) + 1;
    int most = counts_->most.load();
    while (most < now && !counts_->most.compare_exchange_weak(most, now)) {
    }
    for (int i = 0; i < 1000; ++i) counts_->done.load();
    counts_->running.fetch_sub(1);
    counts_->done.fetch_add(1);
  }

 private:
  std::shared_ptr<Counts> counts_;
};

TEST_CASE("core budget: two pools of threads share the cores, and all tasks are done") {
  constexpr int kTasks = 2000, kCores = 2;
  CoreBudget budget(kCores);
  const auto counts = std::make_shared<CountedTask::Counts>();
  {
    ThreadPool a(kCores, "a", {}, &budget), b(kCores, "b", {}, &budget);
    for (int i = 0; i < kTasks; ++i)
      (i % 2 == 0 ? a : b).submit(std::make_unique<CountedTask>(counts));
    while (counts->done.load() < kTasks) std::this_thread::yield();
  }
  CHECK(counts->most.load() <= kCores + 1);  // a share of one, beside two that are borrowed
}

TEST_CASE("thread pool: the number of threads moves") {
  const auto counts = std::make_shared<CountedTask::Counts>();
  ThreadPool pool(1, "pool", {});
  for (const int threads : {3, 1, 8}) {
    pool.set_threads(threads);
    CHECK(pool.threads() == threads);
    const int before = counts->done.load();
    for (int i = 0; i < 500; ++i) pool.submit(std::make_unique<CountedTask>(counts));
    while (counts->done.load() < before + 500) std::this_thread::yield();
  }
  CHECK(counts->most.load() <= 8);
}

}  // namespace
}  // namespace penstock
