#include <doctest/doctest.h>

#include <chrono>
#include <condition_variable>
#include <mutex>

#include "datasets/datasets.h"
#include "functions/file_reads.h"
#include "plan/build.h"
#include "runtime/file_read_cursor.h"
#include "runtime/open.h"
#include "runtime/run.h"

namespace penstock {
namespace {

constexpr int64_t kMiB = 1 << 20;

// A consumer that waits as the iterator does; a wait that would never end fails instead.
class Consumer final : public Waker {
 public:
  explicit Consumer(MemoryGate* gate) : gate_(gate) {}
  void wake() override {
    const std::lock_guard lock(mutex_);
    woken_ = true;
    if (std::exchange(still_, false)) gate_->go_on();
    changed_.notify_all();
  }
  bool wait() {
    std::unique_lock lock(mutex_);
    if (!woken_) {
      still_ = true;
      gate_->stand_still();
    }
    return changed_.wait_for(lock, std::chrono::seconds(20),
                             [this] { return std::exchange(woken_, false); });
  }

 private:
  MemoryGate* const gate_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool woken_ = false, still_ = false;
};

// Files of which the first comes last: it needs room that only files of later rows can give back.
class LateFirstFile {
 public:
  FileBytes read(const std::string& name) {
    const bool first = name == "0";
    {
      std::unique_lock lock(mutex_);
      if (first) changed_.wait(lock, [this] { return others_ >= 3; });
    }
    const int64_t bytes = (first ? 3 : 2) * kMiB - static_cast<int64_t>(sizeof(BufferHeader));
    FileBytes out{allocate_buffer(bytes), 1};
    const std::lock_guard lock(mutex_);
    ++others_;
    changed_.notify_all();
    return out;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int others_ = 0;
};

TEST_CASE("file reads: files that made room for an earlier one are read again") {
  register_datasets();
  const PlanPtr plan =
      build_plan(
          std::make_shared<const Source>(Source{
              "test", R"(from_tensor_slices(["0", "1", "2", "3"]) | map(n -> read_file(n)))"}),
          {})
          .plan;
  RunOptions options;
  options.threads = 1;
  options.io_threads = 4;
  options.memory_bytes = 8 * kMiB + kMiB / 2;
  Run run(plan, options, std::make_shared<PipelineState>());
  const ScopedPool pool(&run.pool());
  const ScopedRoomKeeper keeper(&run.gate());
  const OpenContext context{&run, {}};
  const auto reads = split_file_reads(*plan->function("f"));
  REQUIRE(reads);
  LateFirstFile files;
  CursorPtr cursor =
      open_file_reads(context.open(plan->inputs[0]), &run, &run.stage(plan.get())->controls,
                      std::make_shared<const CompiledFunction>(reads->names, context.environment),
                      [&files](const std::string& name) { return files.read(name); });
  cursor->set_identity({nullptr, "", 2, nullptr, false, true});
  Consumer consumer(&run.gate());
  int64_t rows = 0;
  bool woken = true;
  while (woken) {
    Block block;
    const Poll poll = cursor->pull(&block, {4096, &consumer});
    if (poll == Poll::end) break;
    if (poll == Poll::pending) {
      woken = consumer.wait();
    } else {
      CHECK(block.errors.empty());
      rows += block.rows;
    }
  }
  CHECK(woken);
  CHECK(rows == 4);
  cursor.reset();
  run.cancel();
}

}  // namespace
}  // namespace penstock
