#include "runtime/thread_clocks.h"

#include <doctest/doctest.h>

#include <thread>

#include "runtime/counters.h"

namespace penstock {
namespace {

bool system_counts() {
  ThreadClocks clocks;
  clocks.consume();
  return clocks.times(ThreadKind::consumer).descheduled_ns.has_value();
}

void burn(int64_t ns) {
  const int64_t end = thread_cpu_ns() + ns;
  while (thread_cpu_ns() < end) {
  }
}

TEST_CASE("thread clocks: kinds are counted apart, from when they begin to work for the run") {
  burn(2'000'000);  // before: counts nowhere
  ThreadClocks clocks;
  CHECK(clocks.times(ThreadKind::consumer).threads == 0);
  clocks.consume();
  clocks.consume();
  CHECK(clocks.times(ThreadKind::consumer).threads == 1);
  CHECK(clocks.times(ThreadKind::io).threads == 0);
  if (!system_counts()) return;
  std::thread worker([&] {
    clocks.join(ThreadKind::compute);
    burn(30'000'000);
    std::this_thread::yield();
    const ThreadTimes own = clocks.times(ThreadKind::compute);
    CHECK(own.threads == 1);
    CHECK(own.cpu_ns > 0);
    CHECK(own.descheduled_ns.value() >= 0);
  });
  worker.join();
}

TEST_CASE("thread clocks: consumers in turn count together, many are unknown") {
  ThreadClocks clocks;
  clocks.consume();
  std::thread([&] { clocks.consume(); }).join();
  clocks.consume();
  const ThreadTimes three = clocks.times(ThreadKind::consumer);
  CHECK(three.threads == 3);
  for (int i = 0; i < 20; ++i) std::thread([&] { clocks.consume(); }).join();
  CHECK_FALSE(clocks.times(ThreadKind::consumer).descheduled_ns.has_value());
}

TEST_CASE("thread clocks: the cores' busy time does not go back") {
  const auto before = cores_busy_seconds();
  const auto after = cores_busy_seconds();
  CHECK(before.has_value() == after.has_value());
  if (before) CHECK(*after >= *before);
}

}  // namespace
}  // namespace penstock
