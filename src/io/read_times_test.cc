#include "io/read_times.h"

#include <doctest/doctest.h>

#include <ctime>
#include <filesystem>
#include <thread>
#include <vector>

#include "io/file.h"

namespace penstock {
namespace {

// Lets another thread work for so much CPU time, and waits for it.
void wait_for_work(int64_t ns) {
  std::thread([ns] {
    const auto used = [] {
      timespec t{};
      clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
      return int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
    };
    while (used() < ns) {
    }
  }).join();
}

TEST_CASE("read times: a wait counts as wall time, not as CPU time") {
  ReadTimes times;
  {
    const ScopedReadTimes scope(&times);
    const ReadTimer timer(ReadTimer::kLargeBytes);
    wait_for_work(5'000'000);
  }
  CHECK(times.wall_ns.load() >= 5'000'000);
  CHECK(times.cpu_ns.load() < times.wall_ns.load());
}

TEST_CASE("read times: files count in the innermost scope only") {
  const std::string path =
      (std::filesystem::temp_directory_path() / "penstock_read_times_test").string();
  write_file_atomically(path, std::string(1 << 20, 'x'));
  ReadTimes outer, inner;
  const auto read = [&] {
    std::vector<std::byte> bytes(1 << 20);
    File(path, "test").pread(bytes, 0);
  };
  {
    const ScopedReadTimes a(&outer);
    {
      const ScopedReadTimes b(&inner);
      read();
      const ScopedReadTimes nobody(nullptr);
      read();
    }
    CHECK(inner.wall_ns.load() > 0);
    CHECK(outer.wall_ns.load() == 0);
    read();
  }
  CHECK(outer.wall_ns.load() > 0);
  const int64_t before = outer.wall_ns.load();
  read();
  CHECK(outer.wall_ns.load() == before);
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace penstock
