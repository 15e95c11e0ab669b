#include "runtime/async_stage.h"

#include <algorithm>
#include <deque>

namespace penstock {
namespace {

// A batch buffer being filled: places are handed out in order, each to one task.
class BatchPlaces {
 public:
  BatchPlaces(const Chain* chain, int64_t batch_rows)
      : chain_(chain), batch_rows_(chain && !chain->filters() ? batch_rows : 0) {}

  // Rows left in the current buffer; blocks should not be larger.
  int64_t room() const {
    return batch_rows_ > 0 ? (used_ < batch_rows_ && current_ ? batch_rows_ - used_ : batch_rows_)
                           : INT64_MAX;
  }
  std::unique_ptr<Placement> take(int64_t rows) {
    if (batch_rows_ == 0) return nullptr;
    if (!current_ || used_ + rows > batch_rows_) {
      current_ = chain_->make_placement(batch_rows_);
      used_ = 0;
      if (!current_) {
        batch_rows_ = 0;
        return nullptr;
      }
    }
    auto out = std::make_unique<Placement>();
    for (const Column& c : current_->columns)
      out->columns.push_back(c.rows() > 0 ? c.slice(used_, rows) : Column());
    used_ += rows;
    if (used_ == batch_rows_) current_.reset();
    return out;
  }

 private:
  const Chain* chain_;
  int64_t batch_rows_;
  int64_t used_ = 0;
  std::unique_ptr<Placement> current_;
};

constexpr double kCheapNs = 30'000;
constexpr int64_t kCheapBytes = 128 << 10;  // larger blocks are not kept waiting
constexpr size_t kCheapSlots = 24, kFewSlots = 6;

// Shared by the cursor, the driver and the tasks; lives until the last of them is done.
class Stage final : public Waker, public std::enable_shared_from_this<Stage> {
 public:
  Stage(CursorPtr input, Run* run, const AsyncOptions& options)
      : run_(run),
        options_(options),
        input_(std::move(input)),
        places_(options.chain.get(), options.batch_rows),
        sizer_(run->options().block_rows) {
    options_.counters->limit.store(options.limit, std::memory_order_relaxed);
  }

  Poll take(Block* out, const Pull& pull);
  void close();
  void wake() override {  // the input has something
    std::lock_guard lock(mutex_);
    schedule_driver();
  }
  void drive();
  void work(Block block, std::unique_ptr<Placement> placement);

 private:
  struct Slot {
    enum class State : uint8_t { working, done, gone } state = State::working;
    Block block;
  };
  class DriveTask;
  class WorkTask;

  uint64_t priority(uint64_t seq) const {
    return (static_cast<uint64_t>(options_.depth) << 48) +
           std::min<uint64_t>(seq, (1ull << 48) - 1);
  }
  int64_t limit() const {
    return std::max<int64_t>(1, options_.counters->limit.load(std::memory_order_relaxed));
  }
  // With the lock:
  void schedule_driver();
  bool may_admit() const;
  bool has_front() const {
    return !finished_.empty() || (!slots_.empty() && slots_.front().state != Slot::State::working);
  }
  void wake_consumer() {
    if (consumer_) std::exchange(consumer_, nullptr)->wake();
  }

  int64_t rows_wanted() const;
  void publish(uint64_t seq, Block block, bool failed);

  Run* const run_;
  AsyncOptions options_;
  std::mutex mutex_;
  CursorPtr input_;             // used by the driver only
  std::deque<Slot> slots_;      // slots_[0] is block number head_
  std::deque<Block> finished_;  // where order does not matter
  uint64_t head_ = 0;
  int64_t working_ = 0;
  int64_t waiting_rows_ = 0;  // in finished slots and in front_
  int64_t block_bytes_ = 0;   // a recent block's, to guess the next one's
  uint64_t idle_since_ = 0;   // the driver and all workers rest, 0: they do not
  bool starved_ = false;      // ... because the input has nothing; else because the output is full
  // Blocks cost less than handing them over: the driver computes them itself, and neither side is
  // woken for each.
  bool cheap_ = false;
  uint64_t pull_ticks_ = 0;  // what the driver's last pull took
  bool driver_scheduled_ = false, driver_running_ = false, driver_again_ = false;
  std::atomic<bool> closed_ = false;  // the consumer is gone
  bool ended_ = false, cancelled_ = false;
  Waker* consumer_ = nullptr;  // set while the consumer waits
  Block front_;                // what the consumer has begun to take
  BatchPlaces places_;
  BlockSizer sizer_;
};

class Stage::DriveTask final : public Task {
 public:
  explicit DriveTask(std::shared_ptr<Stage> stage) : stage_(std::move(stage)) {}
  void run() override { stage_->drive(); }

 private:
  std::shared_ptr<Stage> stage_;
};

class Stage::WorkTask final : public Task {
 public:
  WorkTask(std::shared_ptr<Stage> stage, Block block, std::unique_ptr<Placement> placement)
      : stage_(std::move(stage)), block_(std::move(block)), placement_(std::move(placement)) {}
  void run() override { stage_->work(std::move(block_), std::move(placement_)); }

 private:
  std::shared_ptr<Stage> stage_;
  Block block_;
  std::unique_ptr<Placement> placement_;
};

void Stage::schedule_driver() {
  if (closed_ || ended_ || driver_scheduled_) return;
  if (driver_running_) {
    driver_again_ = true;
    return;
  }
  driver_scheduled_ = true;
  run_->cpu().submit(std::make_unique<DriveTask>(shared_from_this()),
                     priority(head_ + slots_.size()));
}

bool Stage::may_admit() const {
  if (run_->options().latency && !consumer_) return false;
  if (slots_.empty() && front_.rows == 0) return true;
  if (options_.chain && working_ >= limit()) return false;
  // The budget keeps room for the block that the consumer needs next and for what it holds.
  const int64_t free = run_->pool().budget_bytes() - run_->pool().used_bytes();
  if (block_bytes_ > 0 && free < 4 * block_bytes_ * (working_ + 1)) return false;
  if (options_.buffer_rows > 0)
    return waiting_rows_ + working_ * sizer_.rows() < options_.buffer_rows;
  return static_cast<int64_t>(slots_.size()) <
         (cheap_ ? static_cast<int64_t>(kCheapSlots) : 2 * limit() + 1);
}

int64_t Stage::rows_wanted() const {
  int64_t rows = std::min(run_->options().block_rows,
                          options_.chain ? sizer_.rows() : run_->options().block_rows);
  if (options_.buffer_rows > 0) rows = std::min(rows, std::max<int64_t>(1, options_.buffer_rows));
  return std::min(rows, places_.room());
}

void Stage::drive() {
  {
    std::lock_guard lock(mutex_);
    driver_scheduled_ = false;
    driver_running_ = true;
    if (idle_since_ != 0)
      add(starved_ ? options_.counters->starved_ticks : options_.counters->blocked_ticks,
          static_cast<int64_t>(ticks() - idle_since_));
    idle_since_ = 0;
  }
  for (;;) {
    uint64_t seq;
    int64_t rows;
    {
      std::lock_guard lock(mutex_);
      driver_again_ = false;
      if (closed_ || ended_ || !may_admit()) {
        driver_running_ = false;
        // Workers still busy are neither blocked nor starved.
        if (working_ == 0) idle_since_ = ticks(), starved_ = false;
        if (has_front()) wake_consumer();
        return;
      }
      seq = head_ + slots_.size();
      rows = rows_wanted();
    }
    Block block;
    Poll poll = Poll::end;
    bool stopped = false;
    const uint64_t start = ticks();
    try {
      run_->check_cancelled();
      poll = input_->pull(&block, {rows, this});
    } catch (const Error&) {  // CANCELLED is all that leaves pull
      stopped = true;
    }
    std::unique_lock lock(mutex_);
    pull_ticks_ = ticks() - start;
    if (stopped || poll == Poll::end) {
      ended_ = true;
      cancelled_ |= stopped;
      driver_running_ = false;
      wake_consumer();
      return;
    }
    if (poll == Poll::pending) {
      if (driver_again_) continue;
      driver_running_ = false;
      if (working_ == 0) idle_since_ = ticks(), starved_ = true;
      if (has_front()) wake_consumer();
      return;
    }
    block.seq = seq;
    if (!options_.chain) {
      block_bytes_ = block.payload_bytes();
      waiting_rows_ += block.rows;
      slots_.push_back({Slot::State::done, std::move(block)});
      wake_consumer();
      continue;
    }
    std::unique_ptr<Placement> placement;
    try {
      placement = places_.take(block.rows);
    } catch (const Error&) {  // no room for a batch buffer: rows take memory of their own
    }
    slots_.push_back({});
    ++working_;
    if (cheap_) {
      lock.unlock();
      work(std::move(block), std::move(placement));
      continue;
    }
    run_->cpu().submit(
        std::make_unique<WorkTask>(shared_from_this(), std::move(block), std::move(placement)),
        priority(seq));
  }
}

void Stage::work(Block block, std::unique_ptr<Placement> placement) {
  const uint64_t seq = block.seq;
  const int64_t rows = block.rows;
  const uint64_t start = ticks();
  bool failed = false;
  try {
    run_->check_cancelled();
    if (closed_.load(std::memory_order_relaxed)) return;
    options_.chain->run(&block, placement.get());
  } catch (const Error& e) {
    failed = e.code() == Code::cancelled;
    if (!failed)
      block = error_block(current_error(), options_.chain->stages().back().dtypes.size(), Origin());
  } catch (...) {
    block = error_block(current_error(), options_.chain->stages().back().dtypes.size(), Origin());
  }
  const uint64_t spent = ticks() - start;
  const int64_t bytes = block.payload_bytes();
  {
    std::lock_guard lock(mutex_);
    sizer_.observe(rows, spent, options_.batch_rows > 0 ? 0 : bytes);
    block_bytes_ = bytes;
    cheap_ = !run_->options().latency && bytes < kCheapBytes &&
             static_cast<double>(spent + pull_ticks_) * ns_per_tick() < kCheapNs;
    --working_;
  }
  publish(seq, std::move(block), failed);
}

void Stage::publish(uint64_t seq, Block block, bool failed) {
  std::lock_guard lock(mutex_);
  if (closed_) return;
  cancelled_ |= failed;
  Slot& slot = slots_[seq - head_];
  waiting_rows_ += block.rows;
  if (options_.ordered) {
    slot.state = Slot::State::done;
    slot.block = std::move(block);
  } else {
    slot.state = Slot::State::gone;
    finished_.push_back(std::move(block));
  }
  // A driver that goes on wakes the consumer when it stops.
  const bool soon = cheap_ && driver_running_ && slots_.size() < kFewSlots && !cancelled_;
  if (!soon && (has_front() || cancelled_)) wake_consumer();
  schedule_driver();
}

Poll Stage::take(Block* out, const Pull& pull) {
  std::lock_guard lock(mutex_);
  while (front_.rows == 0) {
    if (cancelled_) throw Error(Code::cancelled, "cancelled");
    while (!slots_.empty() && slots_.front().state == Slot::State::gone) {
      slots_.pop_front();
      ++head_;
    }
    if (!finished_.empty()) {
      front_ = std::move(finished_.front());
      finished_.pop_front();
    } else if (!slots_.empty() && slots_.front().state == Slot::State::done) {
      front_ = std::move(slots_.front().block);
      slots_.pop_front();
      ++head_;
    } else {
      if (slots_.empty() && ended_) return Poll::end;
      consumer_ = pull.waker;
      schedule_driver();
      return Poll::pending;
    }
  }
  if (front_.rows <= pull.max_rows) {
    *out = std::move(front_);
    front_ = Block();
  } else {
    *out = front_.slice(0, pull.max_rows);
    front_.drop_front(pull.max_rows);
  }
  waiting_rows_ -= out->rows;
  if (!cheap_ || slots_.size() <= kCheapSlots / 2) schedule_driver();
  return Poll::ready;
}

void Stage::close() {
  std::lock_guard lock(mutex_);
  closed_ = true;
  consumer_ = nullptr;
}

class AsyncCursor final : public Cursor {
 public:
  explicit AsyncCursor(std::shared_ptr<Stage> stage) : stage_(std::move(stage)) {}
  ~AsyncCursor() override { stage_->close(); }

 protected:
  Poll next(Block* out, const Pull& pull) override { return stage_->take(out, pull); }

 private:
  std::shared_ptr<Stage> stage_;
};

}  // namespace

CursorPtr open_async_stage(CursorPtr input, Run* run, const AsyncOptions& options) {
  return std::make_unique<AsyncCursor>(std::make_shared<Stage>(std::move(input), run, options));
}

}  // namespace penstock
