#include "runtime/stage_cursor.h"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>

#include "datasets/datasets.h"
#include "plan/build.h"
#include "runtime/run.h"

namespace penstock {
namespace {

// Where the test and the pool's only thread meet. A wait that would never end fails instead.
class Meeting {
 public:
  void reach() {
    const std::lock_guard lock(mutex_);
    reached_ = true;
    changed_.notify_all();
  }
  bool wait() {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(20), [this] { return reached_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool reached_ = false;
};

class WakeMeeting final : public Waker {
 public:
  void wake() override { woken_.reach(); }
  bool wait() { return woken_.wait(); }

 private:
  Meeting woken_;
};

class WaitingTask final : public Task {
 public:
  explicit WaitingTask(Meeting* until) : until_(until) {}
  void run() override { until_->wait(); }

 private:
  Meeting* until_;
};

// Its block number kLast waits for the consumer to wait, and has a long task queue up before the
// stage's own next one.
class InputBeforeLongTask final : public Cursor {
 public:
  InputBeforeLongTask(CursorPtr input, Run* run, Meeting* waits, Meeting* got)
      : input_(std::move(input)), run_(run), waits_(waits), got_(got) {}

  static constexpr int64_t kLast = 40;

 protected:
  Poll next(Block* out, const Pull& pull) override {
    if (++pulls_ == kLast) {
      waits_->wait();
      run_->cpu().submit(std::make_unique<WaitingTask>(got_), 0);
    }
    return input_->pull(out, {1, pull.waker});
  }

 private:
  CursorPtr input_;
  Run* run_;
  Meeting *waits_, *got_;
  int64_t pulls_ = 0;
};

TEST_CASE("async stage: what is ready is given though the pool is busy with other things") {
  register_datasets();
  const PlanPtr plan =
      build_plan(std::make_shared<const Source>(Source{"test", "range(10000)"}), {}).plan;
  RunOptions options;
  options.threads = 1;
  Meeting waits, got;
  Run run(plan, options, std::make_shared<PipelineState>());
  const OpenContext context{&run, {}};
  auto input = std::make_unique<InputBeforeLongTask>(context.open(plan), &run, &waits, &got);
  context.identify(*plan, input.get());
  StageControls& controls = run.stage(plan.get())->controls;
  controls.rows_ahead.start(1000, 1000, true);
  StageOptions stage_options;
  stage_options.controls = &controls;
  stage_options.depth = 1;
  stage_options.counters = run.counters(plan.get());
  CursorPtr stage = open_stage(std::move(input), &run, stage_options);
  context.identify(*plan, stage.get());
  int64_t rows = 0;
  bool woken = true;
  while (woken && rows < InputBeforeLongTask::kLast) {
    WakeMeeting waker;
    Block block;
    const Poll poll = stage->pull(&block, {4096, &waker});
    if (poll == Poll::ready) {
      rows += block.rows;
      continue;
    }
    REQUIRE(poll == Poll::pending);
    waits.reach();
    woken = waker.wait();
  }
  got.reach();
  CHECK(woken);
  CHECK(rows >= InputBeforeLongTask::kLast);
  stage.reset();
  run.cancel();
}

}  // namespace
}  // namespace penstock
