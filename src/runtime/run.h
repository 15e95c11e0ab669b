// A pipeline being run: its threads, memory, counters and cancellation; and the iterator over it.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "data/block.h"
#include "io/throttle_options.h"
#include "plan/node.h"
#include "runtime/byte_budget.h"
#include "runtime/consumer_waker.h"
#include "runtime/counters.h"
#include "runtime/cursor.h"
#include "runtime/memory_gate.h"
#include "runtime/record_places.h"
#include "runtime/schedule.h"
#include "runtime/scheduler.h"
#include "runtime/stage_controls.h"
#include "runtime/thread_clocks.h"

namespace penstock {

class IoExecutor;
class ReadCounter;
class Throttle;

struct RunOptions {
  int threads = 0;  // 0: all usable cores
  int io_threads = 8;
  int64_t memory_bytes = 0;   // of buffers; 0: three quarters of what the process may use
  int64_t block_rows = 4096;  // most rows in a block
  bool latency = false;       // no work ahead of demand
  bool count = true;          // counters of stages; off only to measure what they cost
  bool marks = false;         // blocks carry marks, so that positions are cheap to go back to
  uint64_t schedule_seed =
      0;                     // tests: tasks run in an order drawn from it (schedule.h); 0: threads
  ThrottleOptions throttle;  // of storage
};

// What lasts longer than one iterator: memory caches. Shared by all iterators of one pipeline
// object.
class PipelineState {
 public:
  // The object that `node` keeps between iterators, made by `make` when there is none.
  template <typename T>
  std::shared_ptr<T> keep(const PlanNode* node) {
    std::lock_guard lock(mutex_);
    std::shared_ptr<void>& slot = kept_[node];
    if (!slot) slot = std::make_shared<T>();
    return std::static_pointer_cast<T>(slot);
  }
  uint64_t next_iterator() { return iterators_.fetch_add(1); }

 private:
  std::mutex mutex_;
  std::unordered_map<const PlanNode*, std::shared_ptr<void>> kept_;
  std::atomic<uint64_t> iterators_{0};
};

// What a failure policy let pass.
struct IgnoredErrors {
  int64_t count = 0;
  std::vector<ErrorPtr> first;  // at most kKept: each names stage, file and offset
  static constexpr size_t kKept = 10;
};

// One stage of a run, shared by all its cursors. Nodes of nested templates have one for all copies.
struct RunStage {
  explicit RunStage(int lanes) : counters(lanes) {}
  NodeCounters counters;
  StageControls controls;
};

// Shared by all cursors of one iterator. Destroyed after them.
class Run {
 public:
  Run(PlanPtr plan, const RunOptions& options, std::shared_ptr<PipelineState> state);
  ~Run();

  const PlanPtr& plan() const { return plan_; }
  const RunOptions& options() const { return options_; }
  BufferPool& pool() { return *pool_; }
  ThreadPool& cpu() { return *cpu_; }
  ThreadPool& io() { return *io_; }
  PipelineState& state() { return *state_; }
  RecordPlaces& places() { return places_; }
  MemoryGate& gate() { return gate_; }
  // Counts bytes that are held outside of the pool against the run's memory; a negative number
  // gives them back.
  void set_aside(int64_t bytes) { ByteBudget::process().set_aside(&memory_, bytes); }
  // The function ready to run with these captures. What it needs (patterns, tables, models) is
  // built once for the run, however often a nested pipeline is opened. `reads` counts the files it
  // reads.
  std::shared_ptr<const CompiledFunction> program(const FunctionPtr& function,
                                                  std::span<const Tensor> environment,
                                                  ReadCounter* reads);
  // A stage's counters and controls; made at the first call, valid as long as the run.
  RunStage* stage(const PlanNode* node);
  NodeCounters* counters(const PlanNode* node) { return &stage(node)->counters; }
  // Returns what counts the files that a stage's function reads, for ScopedReadCounter; null if the
  // run does not count.
  ReadCounter* reads(const PlanNode* node);
  // The lane of counters of the consumer's thread, and one for a thread that is new; 0 when there
  // are no more.
  static constexpr int kConsumerLane = 1;
  int new_lane();
  // All stages so far, in no order. Others may be added meanwhile.
  std::vector<std::pair<const PlanNode*, RunStage*>> stages() const;

  // Counts an error that the stage's failure policy drops or replaces.
  void count_ignored(const PlanNode* node, const ErrorPtr& error);
  std::map<const PlanNode*, IgnoredErrors> ignored() const;
  // Something that the user should know though no element shows it; the same text only once.
  void note(const std::string& text);
  std::vector<std::string> notes() const;

  void cancel();
  bool cancelled() const { return cancelled_.load(std::memory_order_relaxed); }
  // Throws CANCELLED once the run is cancelled. Call between rows of long work.
  void check_cancelled() const {
    if (cancelled()) throw Error(Code::cancelled, "cancelled");
  }
  // Null: the pools have threads.
  Schedule* schedule() { return schedule_.get(); }
  const std::atomic<bool>* cancel_flag() const { return &cancelled_; }
  // Slows all storage that the run opens from now on, unless it is slowed already.
  void slow_storage(const ThrottleOptions& options);
  // Returns null for storage at full speed.
  Throttle* throttle() const { return throttle_.load(std::memory_order_acquire); }
  // CPU time of tasks so far over their wall time: scales ticks to CPU.
  double cpu_share() const;
  int64_t task_cpu_ns() const { return task_cpu_ns_.load(std::memory_order_relaxed); }
  void count_task(int64_t wall_ns, int64_t cpu_ns) {
    add(task_wall_ns_, wall_ns);
    add(task_cpu_ns_, cpu_ns);
  }
  int64_t start_ns() const { return start_ns_; }
  ThreadClocks& thread_clocks() { return thread_clocks_; }
  const ThreadClocks& thread_clocks() const { return thread_clocks_; }
  // Returns where reads of a thread are counted; null if the run does not count.
  ReadTimes* read_times(ThreadKind kind) {
    return options_.count ? thread_clocks_.reads(kind) : nullptr;
  }
  // Where every thread of the run allocates.
  static Run* current();

 private:
  PlanPtr plan_;
  RunOptions options_;
  std::shared_ptr<PipelineState> state_;
  std::unique_ptr<BufferPool> pool_;
  ByteBudget::Member memory_;
  std::atomic<bool> cancelled_{false};
  MemoryGate gate_{pool_.get(), &cancelled_};
  std::atomic<int64_t> task_wall_ns_{0}, task_cpu_ns_{0};
  int64_t start_ns_;
  ThreadClocks thread_clocks_;
  int lanes_ = 0;
  std::atomic<int> next_lane_{kConsumerLane + 1};
  RecordPlaces places_;
  std::mutex programs_mutex_;
  std::unordered_map<const Function*, std::unique_ptr<const CompiledFunction>> programs_;
  mutable std::mutex counters_mutex_;
  std::map<const PlanNode*, IgnoredErrors> ignored_;
  std::vector<std::string> notes_;
  std::unordered_map<const PlanNode*, std::unique_ptr<RunStage>> stages_;
  std::map<const PlanNode*, std::unique_ptr<ReadCounter>> reads_;
  std::unique_ptr<Throttle> owned_throttle_;
  std::atomic<Throttle*> throttle_{nullptr};
  std::unique_ptr<Schedule> schedule_;
  std::unique_ptr<ThreadPool> cpu_, io_;
  std::unique_ptr<IoExecutor> io_executor_;  // of the tasks of io_
};

// The pipeline was refused before its first element: it cannot be opened, or not inside its budget.
class OpenError : public Error {
 public:
  explicit OpenError(const Error& e) : Error(e) {}
};

// Where an iterator is taken up.
struct ResumePoint {
  uint64_t iterator = 0;  // its number: random ops draw by it
  StreamPosition position;
};

// Pulls blocks of a pipeline's elements. One consumer at a time.
class BlockIterator final {
 public:
  // Throws OpenError for what can be known before the start.
  BlockIterator(PlanPtr plan, const RunOptions& options, std::shared_ptr<PipelineState> state,
                std::vector<Tensor> environment = {}, const std::optional<ResumePoint>& from = {});
  ~BlockIterator();
  BlockIterator(const BlockIterator&) = delete;
  BlockIterator& operator=(const BlockIterator&) = delete;

  // Returns the next block of at most max_rows rows; false at the end. Errors are rows. Throws
  // CANCELLED.
  bool next(Block* out, int64_t max_rows) { return next(out, max_rows, INT64_MAX) == Poll::ready; }
  // Returns pending if no block has come until now_ns() is `deadline_ns`: the next call goes on.
  // Work of stages that run in the calling thread is not interrupted.
  Poll next(Block* out, int64_t max_rows, int64_t deadline_ns);
  // From any thread: next returns soon, throwing CANCELLED.
  void cancel();
  Run& run() { return *run_; }
  const Run& run() const { return *run_; }
  // Behind what next has given: what a checkpoint keeps.
  StreamPosition position() const { return root_->position(); }
  uint64_t number() const { return number_; }  // of the iterator over its pipeline
  // Time that next waited for other threads.
  int64_t waited_ns() const { return waited_ns_; }

 private:
  std::vector<Tensor> environment_;  // of a nested pipeline that is run on its own
  uint64_t number_;
  std::unique_ptr<Run> run_;
  ConsumerWaker waker_;
  CursorPtr root_;
  int unclocked_pulls_ = 0;
  bool long_pulls_ = true;
  int64_t waited_ns_ = 0;
};

// The value of a plan that ends in a sink. Throws the first error.
std::vector<Tensor> run_sink(const PlanPtr& plan, const RunOptions& options,
                             std::shared_ptr<PipelineState> state);

}  // namespace penstock
