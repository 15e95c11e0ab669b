#include "runtime/async_stage.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "runtime/inline_choice.h"
#include "runtime/numbered_blocks.h"

namespace penstock {
namespace {

constexpr double kTaskNs = 100'000;
constexpr int64_t kGroupedBytes = 128 << 10;  // larger blocks are not kept waiting for others
constexpr int64_t kMostGrouped = 16;
constexpr int64_t kFreeBytes = 256
                               << 10;  // of small rows that may wait although fewer were asked for

// Shared by the cursor and the tasks; lives until the last of them is done.
class Stage final : public AsyncStage,
                    public Waker,
                    public Spare,
                    public Turns::Waiter,
                    public std::enable_shared_from_this<Stage> {
 public:
  Stage(CursorPtr input, Run* run, const StageOptions& options)
      : run_(run),
        options_(options),
        controls_(*options.controls),
        input_(std::move(input)),
        blocks_(options.ordered),
        sizer_(run->options().block_rows) {
    const int64_t now = controls_.on_pool.fetch_add(1, std::memory_order_relaxed) + 1;
    int64_t most = controls_.most_on_pool.load(std::memory_order_relaxed);
    while (most < now && !controls_.most_on_pool.compare_exchange_weak(most, now)) {
    }
  }
  ~Stage() override { controls_.on_pool.fetch_sub(1, std::memory_order_relaxed); }
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;

  Poll take(Block* out, const Pull& pull) override;
  void close() override;
  bool give_up() override;
  void wake() override {  // the input has something
    std::lock_guard lock(mutex_);
    schedule();
  }
  bool turn_came() override {
    const std::lock_guard lock(mutex_);
    return schedule();
  }
  void run();

 private:
  struct Work {
    Block block;
    Block input;
    std::unique_ptr<Placement> placement;
    uint64_t pull_ticks = 0;
  };
  struct Cost {
    int64_t blocks = 0, rows = 0, bytes = 0;
    uint64_t pull_ticks = 0, compute_ticks = 0;
  };
  class StageTask;

  uint64_t priority(uint64_t seq) const {
    return (static_cast<uint64_t>(options_.depth) << 48) +
           std::min<uint64_t>(seq, (1ull << 48) - 1);
  }
  int64_t calls() const { return std::max<int64_t>(1, controls_.calls.get()); }
  // Rows that may wait; 0: as many as keep the workers busy.
  int64_t rows_ahead() const {
    return options_.chain ? 0 : std::max<int64_t>(1, controls_.rows_ahead.get());
  }
  // The consumer's thread computes the blocks.
  bool is_inlined() const {
    const HandOver how = controls_.hand_over.load(std::memory_order_relaxed);
    return (choice_.inlined() && how == HandOver::automatic) || !wants_pool(options_);
  }
  // With the lock:
  bool schedule(bool from_task = false);
  bool goes_on() {
    if (blocks_.has_undone()) return !run_->gate().is_contended();
    return !is_inlined() && may_admit(true);
  }
  bool may_admit(bool first);
  int64_t waiting_rows() const { return blocks_.finished_rows() + front_.rows; }
  int64_t buffer_rows() const;
  bool half_full() const;
  int64_t capacity_blocks() const { return group_ > 1 ? (calls() + 1) * group_ : 2 * calls() + 1; }
  void wake_consumer() {
    if (consumer_) std::exchange(consumer_, nullptr)->wake();
  }
  void offer();
  int64_t rows_wanted() const;
  void rest(bool starved);

  std::vector<Work> pull_group();
  std::vector<Work> take_undone();
  bool worth_keeping(const Block& input);
  Poll pull_one(std::unique_lock<std::mutex>* lock, int64_t rows, Work* work);
  bool compute(Work* work);
  void work_on(std::vector<Work> group);
  void observe(const Cost& cost);
  Poll compute_here(std::unique_lock<std::mutex>* lock, int64_t most_rows);
  void choose(int64_t rows);

  Run* const run_;
  const StageOptions options_;
  StageControls& controls_;
  std::mutex mutex_;
  CursorPtr input_;  // used by the task that pulls
  NumberedBlocks blocks_;
  int64_t working_ = 0;         // tasks that have pulled and not published yet
  int64_t working_blocks_ = 0;  // ... and their blocks
  int64_t working_rows_ = 0;
  std::optional<bool> repeatable_;  // the chain leaves nothing behind; not known until it is asked
  int64_t block_bytes_ = 0;         // a recent block's, to guess the next one's
  int64_t row_bytes_ = 0;
  int64_t group_ = 1;        // blocks a task takes: cheap ones are handed over many at a time
  uint64_t idle_since_ = 0;  // nobody pulls or works, 0: somebody does
  bool starved_ = false;     // ... because the input has nothing; else because the output is full
  bool scheduled_ = false, pulling_ = false, pull_again_ = false;
  std::atomic<bool> closed_ = false;  // the consumer is gone
  bool ended_ = false, cancelled_ = false;
  Waker* consumer_ = nullptr;   // set while the consumer waits
  uint64_t waiting_since_ = 0;  // ticks, 0: it does not
  InlineChoice choice_;
  Block front_;  // what the consumer has begun to take
  BlockSizer sizer_;
};

class Stage::StageTask final : public Task {
 public:
  explicit StageTask(std::shared_ptr<Stage> stage) : stage_(std::move(stage)) {}
  void run() override { stage_->run(); }

 private:
  std::shared_ptr<Stage> stage_;
};

// Returns whether a task has been submitted.
bool Stage::schedule(bool from_task) {
  const bool undone = blocks_.has_undone();
  if (closed_ || scheduled_ || (ended_ && !undone)) return false;
  if (pulling_ && !undone) {
    pull_again_ = true;
    return false;
  }
  if (options_.turns && !options_.turns->take(weak_from_this(), consumer_ != nullptr)) return false;
  scheduled_ = true;
  run_->cpu().submit(std::make_unique<StageTask>(shared_from_this()),
                     priority(undone ? blocks_.oldest_undone() : blocks_.next()), from_task);
  return true;
}

// `first`: the first block of a task; more of them only fill it up.
bool Stage::may_admit(bool first) {
  if (run_->options().latency && !consumer_) return false;
  const bool empty = blocks_.size() == 0 && front_.rows == 0;
  if (options_.batch && !options_.batch->may_go_on(this, empty && consumer_ != nullptr))
    return false;
  if (empty) return true;
  if (run_->gate().is_contended()) return false;
  if (first && options_.chain && working_ >= calls()) return false;
  // The budget keeps room for the block that the consumer needs next and for what it holds.
  const int64_t free = run_->pool().budget_bytes() - run_->pool().used_bytes();
  if (block_bytes_ > 0 && free < 4 * block_bytes_ * (working_blocks_ + 1)) return false;
  if (rows_ahead() > 0) return waiting_rows() + working_rows_ < buffer_rows();
  return capacity_blocks() - blocks_.size() >= (first ? group_ : 1);
}

int64_t Stage::rows_wanted() const {
  int64_t rows = std::min(run_->options().block_rows,
                          options_.chain ? sizer_.rows() : run_->options().block_rows);
  if (rows_ahead() > 0) rows = std::min(rows, buffer_rows());
  return options_.batch ? std::min(rows, options_.batch->room()) : rows;
}

// What was asked for; more of rows that take little time and room.
int64_t Stage::buffer_rows() const {
  if (group_ == 1) return rows_ahead();
  return std::max(rows_ahead(), std::min(kFreeBytes / std::max<int64_t>(1, row_bytes_),
                                         4 * run_->options().block_rows));
}

bool Stage::half_full() const {
  if (rows_ahead() > 0) return waiting_rows() >= buffer_rows() / 2;
  return blocks_.size() - working_blocks_ >= capacity_blocks() / 2;
}

// Wakes the consumer; where blocks are cheap and more of them come anyway, not for a few.
void Stage::offer() {
  if (!blocks_.has_front() && !cancelled_ && !ended_) return;
  // A task that is only scheduled may have to wait for others that take long.
  const bool at_work = working_ > 0 || pulling_;
  if (group_ > 1 && at_work && !cancelled_ && !half_full()) return;
  wake_consumer();
}

void Stage::rest(bool starved) {
  if (working_ > 0) return;
  idle_since_ = ticks();
  starved_ = starved;
}

void Stage::run() {
  std::vector<Work> group = pull_group();
  if (!group.empty()) work_on(std::move(group));
  if (options_.turns) options_.turns->give_back();
}

// The input's next block, and where its results go. Leaves the lock while the input works; no other
// thread pulls meanwhile.
Poll Stage::pull_one(std::unique_lock<std::mutex>* lock, int64_t rows, Work* work) {
  const uint64_t seq = blocks_.next();
  Poll poll = Poll::end;
  bool stopped = false;
  pulling_ = true;
  pull_again_ = false;
  lock->unlock();
  const uint64_t start = ticks();
  try {
    run_->check_cancelled();
    poll = input_->pull(&work->block, {rows, this});
  } catch (const Error&) {  // CANCELLED is all that leaves pull
    stopped = true;
  }
  work->pull_ticks = ticks() - start;
  lock->lock();
  pulling_ = false;
  ended_ |= poll == Poll::end;
  cancelled_ |= stopped;
  if (poll != Poll::ready) return poll;
  work->block.seq = seq;
  const ScopedRoomKeeper nobody(nullptr);  // the consumer needs the lock to give memory back
  try {
    if (options_.batch) work->placement = options_.batch->take(*options_.chain, work->block.rows);
  } catch (const Error&) {  // no room for a batch buffer: rows take memory of their own
  }
  if (!work->placement && worth_keeping(work->block)) work->input = work->block;
  return poll;
}

std::vector<Stage::Work> Stage::pull_group() {
  std::vector<Work> group;
  std::unique_lock lock(mutex_);
  scheduled_ = false;
  if (idle_since_ != 0)
    options_.counters->add(starved_ ? &StageCounts::starved_ticks : &StageCounts::blocked_ticks,
                           static_cast<int64_t>(ticks() - idle_since_));
  idle_since_ = 0;
  if (blocks_.has_undone() || pulling_) return take_undone();
  const auto most = static_cast<size_t>(group_);
  Poll poll = Poll::ready;
  while (!closed_ && !ended_ && group.size() < most && may_admit(group.empty())) {
    Work work;
    poll = pull_one(&lock, rows_wanted(), &work);
    if (poll == Poll::pending && !pull_again_) break;
    if (poll != Poll::ready) continue;
    blocks_.add();
    ++working_blocks_;
    working_rows_ += work.block.rows;
    group.push_back(std::move(work));
  }
  if (!group.empty()) {
    ++working_;
    if (poll == Poll::ready && goes_on()) schedule();
  } else if (!ended_) {
    rest(poll == Poll::pending);
  }
  offer();
  return group;
}

// With the lock. Empty if there is none: another thread pulls.
std::vector<Stage::Work> Stage::take_undone() {
  std::vector<Work> group;
  if (!blocks_.has_undone()) {
    pull_again_ = true;
    return group;
  }
  Work& work = group.emplace_back();
  work.block = blocks_.take_undone();
  if (worth_keeping(work.block)) work.input = work.block;  // it may have to give way again
  ++working_blocks_;
  working_rows_ += group[0].block.rows;
  ++working_;
  if (goes_on()) schedule();
  return group;
}

// Large results that need little to be made again are kept with what they need. Those of the first
// blocks may be large: several are begun before one is finished.
bool Stage::worth_keeping(const Block& input) {
  constexpr int64_t kFactor = 4;
  const int64_t result_bytes = block_bytes_ > 0 ? block_bytes_ : kGroupedBytes;
  if (!options_.chain || !options_.ordered || result_bytes < kGroupedBytes) return false;
  if (input.payload_bytes() * kFactor > result_bytes) return false;
  if (!repeatable_) {
    repeatable_ = std::ranges::all_of(options_.chain->stages(), [](const Chain::Stage& s) {
      return s.function->function().effects() != Effects::stateful;
    });
  }
  return *repeatable_;
}

// The newest result that can be made again makes room; it is made again in its turn.
bool Stage::give_up() {
  Block dropped;  // freed after the lock
  const std::lock_guard lock(mutex_);
  return !closed_ && blocks_.give_up(&dropped);
}

// False: cancelled.
bool Stage::compute(Work* work) {
  bool cancelled = false;
  try {
    run_->check_cancelled();
    if (options_.chain) options_.chain->run(&work->block, work->placement.get());
  } catch (...) {
    const ErrorPtr error = current_error();
    cancelled = error->code() == Code::cancelled;
    work->block = error_block(
        error, options_.chain ? options_.chain->stages().back().dtypes.size() : 0, Origin());
  }
  work->placement.reset();
  return !cancelled;
}

// With the lock: what blocks cost.
void Stage::observe(const Cost& cost) {
  sizer_.observe(cost.rows, cost.compute_ticks, options_.batch ? 0 : cost.bytes);
  block_bytes_ = cost.bytes / cost.blocks;
  row_bytes_ = cost.bytes / std::max<int64_t>(1, cost.rows);
  const double block_ns = static_cast<double>(cost.pull_ticks + cost.compute_ticks) *
                          ns_per_tick() / static_cast<double>(cost.blocks);
  group_ =
      !options_.cheap_together || run_->options().latency || block_bytes_ >= kGroupedBytes
          ? 1
          : std::clamp<int64_t>(std::llround(kTaskNs / std::max(1.0, block_ns)), 1, kMostGrouped);
}

void Stage::work_on(std::vector<Work> group) {
  const uint64_t first = group.front().block.seq;
  Cost cost;
  bool cancelled = false;
  const uint64_t start = ticks();
  for (Work& w : group) {
    if (closed_.load(std::memory_order_relaxed)) return;
    ++cost.blocks;
    cost.rows += w.block.rows;
    cost.pull_ticks += w.pull_ticks;
    cancelled |= !compute(&w);
    cost.bytes += w.block.payload_bytes();
  }
  cost.compute_ticks = ticks() - start;
  const std::lock_guard lock(mutex_);
  if (closed_) return;
  observe(cost);
  --working_;
  working_blocks_ -= cost.blocks;
  working_rows_ -= cost.rows;
  cancelled_ |= cancelled;
  for (size_t i = 0; i < group.size(); ++i)
    blocks_.publish(first + i, std::move(group[i].block), std::move(group[i].input));
  if (goes_on())
    schedule(true);
  else if (!is_inlined() && !scheduled_ && !pulling_)
    rest(false);
  offer();
}

// Pulls and computes a block in the consumer's thread. Where the input has nothing yet, a task goes
// on when it has.
Poll Stage::compute_here(std::unique_lock<std::mutex>* lock, int64_t most_rows) {
  Work work;
  const Poll poll = pull_one(lock, std::min(most_rows, rows_wanted()), &work);
  if (poll != Poll::ready) return poll;
  blocks_.pass();
  const int64_t rows = work.block.rows;
  lock->unlock();
  const uint64_t start = ticks();
  const bool done = compute(&work);
  const uint64_t spent = ticks() - start;
  lock->lock();
  cancelled_ |= !done;
  observe({1, rows, work.block.payload_bytes(), work.pull_ticks, spent});
  front_ = std::move(work.block);
  return poll;
}

// The consumer has its next block.
void Stage::choose(int64_t rows) {
  const uint64_t now = group_ > 1 ? ticks() : 0;
  const auto ns = [](uint64_t t) {
    return static_cast<int64_t>(static_cast<double>(t) * ns_per_tick());
  };
  choice_.took(rows, ns(now), waiting_since_ > 0 && now > 0 ? ns(now - waiting_since_) : 0,
               group_ > 1);
  controls_.inlined.store(is_inlined(), std::memory_order_relaxed);
  waiting_since_ = 0;
}

Poll Stage::take(Block* out, const Pull& pull) {
  std::unique_lock lock(mutex_);
  while (front_.rows == 0) {
    if (cancelled_) throw Error(Code::cancelled, "cancelled");
    if (blocks_.take_front(&front_)) {
      if (options_.cheap_together) choose(front_.rows);
    } else if (blocks_.size() == 0 && ended_) {
      return Poll::end;
    } else {
      const bool here = is_inlined() && blocks_.size() == 0 && !pulling_ && !scheduled_;
      if (here && (compute_here(&lock, pull.max_rows) != Poll::pending || pull_again_)) {
        if (options_.cheap_together && front_.rows > 0) choose(front_.rows);
        continue;
      }
      consumer_ = pull.waker;
      if (waiting_since_ == 0) waiting_since_ = ticks();
      if (!here) schedule();
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
  const bool low = group_ == 1 || blocks_.size() <= capacity_blocks() / 2;
  if (low && goes_on()) schedule();
  return Poll::ready;
}

void Stage::close() {
  run_->gate().remove(this);
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    consumer_ = nullptr;
  }
  if (options_.batch) options_.batch->remove(this);
}

}  // namespace

std::shared_ptr<AsyncStage> start_async_stage(CursorPtr* input, Run* run,
                                              const StageOptions& options) {
  run->cpu().start();
  auto stage = std::make_shared<Stage>(std::move(*input), run, options);
  run->gate().add(stage.get());
  return stage;
}

}  // namespace penstock
