#include "runtime/memory_gate.h"

#include <doctest/doctest.h>

#include <functional>
#include <future>

#include "base/error.h"
#include "data/buffer.h"
#include "runtime/scheduler.h"

namespace penstock {
namespace {

constexpr int64_t kMiB = 1 << 20;

// With its header the buffer counts `bytes`.
BufferRef hold(int64_t bytes) {
  return allocate_buffer(bytes - static_cast<int64_t>(sizeof(BufferHeader)));
}

// A budget of 8 MiB, and one thread beside the consumer's.
struct Fixture {
  BufferPool pool{8 * kMiB};
  std::atomic<bool> cancelled{false};
  MemoryGate gate{&pool, &cancelled};
  ThreadPool threads{1, "gate-test", hooks()};
  ScopedPool scoped{&pool};
  ScopedRoomKeeper keeper{&gate};

  ThreadPool::Hooks hooks() {
    ThreadPool::Hooks out;
    out.at_work = gate.at_work();
    return out;
  }
  // Does the work in a task, as tasks of a run do it.
  std::future<void> start(std::function<void()> work, uint64_t priority = 1) {
    class Lambda final : public Task {
     public:
      Lambda(Fixture* f, std::packaged_task<void()> work) : f_(f), work_(std::move(work)) {}
      void run() override {
        const ScopedPool pool(&f_->pool);
        const ScopedRoomKeeper room(&f_->gate);
        work_();
      }

     private:
      Fixture* f_;
      std::packaged_task<void()> work_;
    };
    std::packaged_task<void()> task(std::move(work));
    std::future<void> out = task.get_future();
    threads.submit(std::make_unique<Lambda>(this, std::move(task)), priority);
    return out;
  }
  void wait_until_contended() {
    while (!gate.is_contended()) std::this_thread::yield();
  }
  // The consumer waits for the task, and says so.
  void get(std::future<void> task) {
    gate.stand_still();
    task.wait();
    gate.go_on();
    task.get();
  }
};

TEST_CASE("a thread that nobody can help is refused at once") {
  Fixture f;
  const BufferRef held = hold(5 * kMiB);
  CHECK_THROWS_AS(hold(5 * kMiB), Error);
  CHECK_THROWS_AS(hold(100 * kMiB), Error);
}

TEST_CASE("work ahead waits until memory is given back") {
  Fixture f;
  BufferRef held = hold(5 * kMiB);
  std::future<void> task = f.start([] { hold(5 * kMiB); });
  f.wait_until_contended();
  held = BufferRef();
  f.get(std::move(task));
}

TEST_CASE("work ahead that nobody can help is refused when the consumer waits for it") {
  Fixture f;
  const BufferRef held = hold(5 * kMiB);
  std::future<void> task = f.start([] { hold(5 * kMiB); });
  CHECK_THROWS_AS(f.get(std::move(task)), Error);
}

TEST_CASE("work that can be repeated gives way to older work") {
  Fixture f;
  int tries = 0;
  std::future<void> task = f.start([&tries] {
    const ScopedRepeatable repeatable(true);
    for (bool done = false; !done;) {
      try {
        ++tries;
        const BufferRef first = hold(4 * kMiB);
        const BufferRef second = hold(2 * kMiB);
      } catch (const Error&) {
        REQUIRE(ScopedRepeatable::gave_way());
      }
      done = !ScopedRepeatable::gave_way();
      if (!done) ScopedRepeatable::wait_for_turn();
    }
  });
  {
    const BufferRef held = hold(3 * kMiB);
    f.wait_until_contended();               // the task holds 4 MiB
    const BufferRef more = hold(4 * kMiB);  // and lets go of them
    CHECK(f.pool.used_bytes() >= 7 * kMiB);
  }
  f.get(std::move(task));
  CHECK(tries >= 2);
}

TEST_CASE("what is held only to be faster is given up first") {
  struct Hoard final : Spare {
    BufferRef buffer = hold(5 * kMiB);
    bool give_up() override { return std::exchange(buffer, BufferRef()).capacity() > 0; }
  };
  Fixture f;
  Hoard hoard;
  f.gate.add(&hoard);
  CHECK(hold(5 * kMiB).capacity() > 0);
  CHECK(!hoard.buffer);
  f.gate.remove(&hoard);
}

TEST_CASE("a waiting thread is replaced, so that queued tasks run") {
  Fixture f;
  BufferRef held = hold(5 * kMiB);
  std::future<void> waits = f.start([] { hold(5 * kMiB); }, 2);
  f.wait_until_contended();
  f.start([&held] { held = BufferRef(); }, 1).get();  // the pool has one thread
  f.get(std::move(waits));
}

TEST_CASE("cancelling ends the wait") {
  Fixture f;
  const BufferRef held = hold(5 * kMiB);
  std::future<void> task = f.start([] { hold(5 * kMiB); });
  f.wait_until_contended();
  f.cancelled = true;
  try {
    task.get();
    FAIL("not cancelled");
  } catch (const Error& e) {
    CHECK(e.code() == Code::cancelled);
  }
}

}  // namespace
}  // namespace penstock
