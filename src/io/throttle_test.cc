#include "io/throttle.h"

#include <doctest/doctest.h>

#include <condition_variable>
#include <set>
#include <thread>

#include "base/cancellation.h"
#include "base/error.h"
#include "io/file.h"
#include "io/memory_file_system_test.h"
#include "io/read_counter.h"

namespace penstock {
namespace {

constexpr int64_t kMs = 1'000'000;

// Time that passes only while `sleepers` threads wait together: then to the earliest deadline.
class VirtualClock final : public WaitClock {
 public:
  explicit VirtualClock(int sleepers = 1) : sleepers_(sleepers) {}

  int64_t now_ns() override {
    const std::lock_guard lock(mutex_);
    return now_;
  }
  void wait_until(int64_t deadline_ns, const std::function<bool()>& stopped) override {
    std::unique_lock lock(mutex_);
    const auto at = deadlines_.insert(deadline_ns);
    move_on();
    changed_.wait(lock, [&] { return now_ >= deadline_ns || stopped(); });
    deadlines_.erase(at);
  }
  void interrupt() override {
    const std::lock_guard lock(mutex_);
    changed_.notify_all();
  }
  // A thread of the test has ended.
  void leave() {
    const std::lock_guard lock(mutex_);
    --sleepers_;
    move_on();
  }
  bool is_waited_for() {
    const std::lock_guard lock(mutex_);
    return !deadlines_.empty();
  }

 private:
  void move_on() {
    if (static_cast<int>(deadlines_.size()) < sleepers_ || deadlines_.empty()) return;
    now_ = std::max(now_, *deadlines_.begin());
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::multiset<int64_t> deadlines_;
  int sleepers_;
  int64_t now_ = 1000 * kMs;
};

struct Slow {
  explicit Slow(const ThrottleOptions& options, int sleepers = 1)
      : clock(new VirtualClock(sleepers)), throttle(options, std::unique_ptr<WaitClock>(clock)) {
    add_file_system("memory-slow", std::make_unique<MemoryFileSystem>());
    write_file_atomically("memory-slow://x", std::string(1 << 20, 'x'));
    start_ns = clock->now_ns();
  }
  int64_t ms() const { return (clock->now_ns() - start_ns + kMs / 2) / kMs; }

  VirtualClock* clock;
  Throttle throttle;
  int64_t start_ns;
};

int64_t read_some(const File& file, int64_t bytes) {
  std::string out(static_cast<size_t>(bytes), '\0');
  return file.pread(std::as_writable_bytes(std::span(out)), 0);
}

TEST_CASE("a throttle delays opens and reads, and limits bandwidth") {
  Slow slow({.bytes_per_second = 1 << 20, .open_ns = 20 * kMs, .read_ns = 5 * kMs});
  {
    const File fast("memory-slow://x");
    read_some(fast, 1 << 20);
    CHECK(slow.ms() == 0);
  }
  const ScopedThrottle scope(&slow.throttle);
  const File file("memory-slow://x");
  CHECK(slow.ms() == 20);
  read_some(file, 0);
  CHECK(slow.ms() == 25);
  CHECK(read_some(file, 2 << 20) == 1 << 20);
  // The bucket of an idle run holds 10 ms of tokens.
  CHECK(slow.ms() == 25 + 5 + 1000 - 10);
  read_some(file, 1 << 19);
  CHECK(slow.ms() == 1020 + 5 + 500 - 5);  // 5 ms of tokens came during the delay
}

TEST_CASE("waits for storage are reported") {
  struct Counter final : ReadCounter {
    void opened() override {}
    void read(int64_t n) override { bytes += n; }
    void waited(int64_t n) override { ns += n; }
    int64_t ns = 0, bytes = 0;
  } counter;
  Slow slow({.open_ns = 20 * kMs, .read_ns = 5 * kMs});
  const ScopedThrottle scope(&slow.throttle);
  const ScopedReadCounter counted(&counter);
  const File file("memory-slow://x");
  read_some(file, 100);
  CHECK(counter.ns == 25 * kMs);
  CHECK(counter.bytes == 100);
}

// Reads in `streams` threads at once; returns the virtual time it took.
int64_t ms_of_streams(const ThrottleOptions& options, int streams, int64_t bytes) {
  Slow slow(options, streams);
  std::vector<std::thread> threads;
  for (int i = 0; i < streams; ++i) {
    threads.emplace_back([&] {
      {
        const ScopedThrottle scope(&slow.throttle);
        const File file("memory-slow://x");
        read_some(file, bytes);
      }
      slow.clock->leave();
    });
  }
  for (std::thread& t : threads) t.join();
  return slow.ms();
}

TEST_CASE("delays of streams overlap, their bandwidth is shared") {
  const ThrottleOptions delays{.open_ns = 20 * kMs, .read_ns = 5 * kMs};
  CHECK(ms_of_streams(delays, 1, 100) == 25);
  CHECK(ms_of_streams(delays, 4, 100) == 25);
  const ThrottleOptions bandwidth{.bytes_per_second = 1 << 20};
  CHECK(ms_of_streams(bandwidth, 1, 1 << 19) == 490);
  CHECK(ms_of_streams(bandwidth, 4, 1 << 19) == 1990);
}

TEST_CASE("a wait for storage ends at once when its work is cancelled") {
  Slow slow({.open_ns = 3600'000 * kMs}, 2);  // the second sleeper never comes: time stands still
  std::atomic<bool> cancelled{false};
  Code code = Code::unknown;
  std::thread reader([&] {
    const ScopedCancellation cancellation(&cancelled);
    const ScopedThrottle scope(&slow.throttle);
    try {
      const File file("memory-slow://x");
    } catch (const Error& e) {
      code = e.code();
    }
  });
  while (!slow.clock->is_waited_for()) std::this_thread::yield();
  cancelled = true;
  slow.throttle.interrupt();
  reader.join();
  CHECK(code == Code::cancelled);
  CHECK(slow.ms() == 0);
}

}  // namespace
}  // namespace penstock
