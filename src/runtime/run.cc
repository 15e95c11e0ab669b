#include "runtime/run.h"

#include <algorithm>

#include "base/cancellation.h"
#include "base/fork.h"
#include "data/hand_over.h"
#include "io/io_executor.h"
#include "io/throttle.h"
#include "runtime/current_run.h"
#include "runtime/open.h"
#include "runtime/stage_reads.h"

namespace penstock {
namespace {

thread_local Run* current_run = nullptr;
thread_local std::optional<ScopedPool> task_pool;
thread_local std::optional<ScopedCancellation> task_cancellation;
thread_local std::optional<ScopedRoomKeeper> task_room_keeper;
thread_local std::optional<ScopedThrottle> task_throttle;
thread_local std::optional<ScopedReadTimes> task_reads;
thread_local std::optional<ScopedIoExecutor> task_executor;
thread_local int64_t task_start_ns = 0;
thread_local int64_t task_start_cpu_ns = 0;

// Lane of a pool's thread, which works for one run; -1: it has not looked for one.
thread_local int worker_lane = -1;

// Reads ahead come after the reads that cursors have asked for.
class PoolExecutor final : public IoExecutor {
 public:
  explicit PoolExecutor(ThreadPool* pool) : pool_(pool) {}
  void submit(std::function<void()> work) override {
    pool_->submit(std::make_unique<Work>(std::move(work)), ThreadPool::kLeastUrgent);
  }

 private:
  class Work final : public Task {
   public:
    explicit Work(std::function<void()> work) : work_(std::move(work)) {}
    void run() override { work_(); }

   private:
    std::function<void()> work_;
  };
  ThreadPool* const pool_;
};

void begin_task(Run* run, ThreadKind kind) {
  if (!run->schedule()) {
    current_run = run;
    if (worker_lane < 0) {
      worker_lane = run->new_lane();
      run->thread_clocks().join(kind);
    }
    counter_lane = worker_lane;
  }
  task_pool.emplace(&run->pool());
  task_cancellation.emplace(run->cancel_flag());
  task_room_keeper.emplace(&run->gate());
  task_throttle.emplace(run->throttle());
  task_reads.emplace(run->read_times(kind));
}

void end_task() {
  task_reads.reset();
  task_throttle.reset();
  task_room_keeper.reset();
  task_cancellation.reset();
  task_pool.reset();
}

// Pools whose run is over while somebody still holds elements of it.
void retire(std::unique_ptr<BufferPool> pool) {
  static auto* mutex = new ForkMutex;
  static auto* retired = new std::vector<std::unique_ptr<BufferPool>>;
  const std::lock_guard lock(*mutex);
  if (pool) retired->push_back(std::move(pool));
  std::erase_if(*retired, [](const std::unique_ptr<BufferPool>& p) { return is_unused(*p); });
}

}  // namespace

Run* Run::current() { return current_run; }

ScopedRun::ScopedRun(Run* run, int lane) : before_(current_run), lane_before_(counter_lane) {
  current_run = run;
  counter_lane = lane;
}
ScopedRun::~ScopedRun() {
  current_run = before_;
  counter_lane = lane_before_;
}

int Run::new_lane() {
  const int lane = next_lane_.fetch_add(1, std::memory_order_relaxed);
  return lane < lanes_ ? lane : 0;
}

Run::Run(PlanPtr plan, const RunOptions& options, std::shared_ptr<PipelineState> state)
    : plan_(std::move(plan)),
      options_(options),
      state_(std::move(state)),
      pool_(std::make_unique<BufferPool>()),
      start_ns_(now_ns()) {
  if (options_.threads <= 0) options_.threads = usable_cores();
  if (options_.latency) options_.block_rows = 1;
  constexpr int kMostLanes = 256;
  lanes_ = std::min(kMostLanes, kConsumerLane + 1 + 2 * options_.threads + options_.io_threads);
  if (options_.memory_bytes <= 0) options_.memory_bytes = usable_memory_bytes() / 4 * 3;
  memory_.pool = pool_.get();
  memory_.most_bytes = options_.memory_bytes;
  ByteBudget::process().join(&memory_);
  gate_.set_most_bytes(options_.memory_bytes);
  slow_storage(options_.throttle);
  ThreadPool::Hooks hooks;
  hooks.context = this;
  hooks.at_work = gate_.at_work();
  hooks.begin = [](void* self) {
    begin_task(static_cast<Run*>(self), ThreadKind::compute);
    task_start_cpu_ns = thread_cpu_ns();
    task_start_ns = now_ns();
  };
  hooks.end = [](void* self) {
    static_cast<Run*>(self)->count_task(now_ns() - task_start_ns,
                                        thread_cpu_ns() - task_start_cpu_ns);
    ByteBudget::process().follow_use();
    end_task();
  };
  cpu_ =
      std::make_unique<ThreadPool>(options_.threads, "penstock-cpu", hooks, &CoreBudget::process());
  hooks.begin = [](void* self) {
    auto* run = static_cast<Run*>(self);
    begin_task(run, ThreadKind::io);
    task_executor.emplace(run->options().latency ? nullptr : run->io_executor_.get());
  };
  hooks.end = [](void*) {
    task_executor.reset();
    end_task();
  };
  io_ = std::make_unique<ThreadPool>(options_.io_threads, "penstock-io", hooks);
  io_executor_ = std::make_unique<PoolExecutor>(io_.get());
  if (options_.schedule_seed != 0) {
    schedule_ = std::make_unique<Schedule>(options_.schedule_seed);
    schedule_->add(cpu_.get());
    schedule_->add(io_.get());
  }
}

Run::~Run() {
  cancel();
  io_->stop();
  cpu_->stop();
  programs_.clear();
  ByteBudget::process().leave(&memory_);
  retire(std::move(pool_));
}

void Run::cancel() {
  cancelled_.store(true, std::memory_order_relaxed);
  if (Throttle* slow = throttle()) slow->interrupt();
}

void Run::slow_storage(const ThrottleOptions& options) {
  const std::lock_guard lock(counters_mutex_);
  if (!options.is_on() || owned_throttle_) return;
  if (options_.throttle.overrides && !options.overrides) return;
  owned_throttle_ = std::make_unique<Throttle>(options);
  throttle_.store(owned_throttle_.get(), std::memory_order_release);
}

ReadCounter* Run::reads(const PlanNode* node) {
  if (!options_.count) return nullptr;
  NodeCounters* const stage = counters(node);
  const std::lock_guard lock(counters_mutex_);
  std::unique_ptr<ReadCounter>& slot = reads_[node];
  if (!slot) slot = std::make_unique<StageReads>(stage, this);
  return slot.get();
}

std::shared_ptr<const CompiledFunction> Run::program(const FunctionPtr& function,
                                                     std::span<const Tensor> environment,
                                                     ReadCounter* reads) {
  std::lock_guard lock(programs_mutex_);
  const ScopedRoomKeeper nobody(nullptr);  // others need the lock
  std::unique_ptr<const CompiledFunction>& first = programs_[function.get()];
  if (!first) {
    first = std::make_unique<const CompiledFunction>(function, std::span<const Tensor>(), reads);
  }
  return std::make_shared<const CompiledFunction>(*first, environment, reads);
}

RunStage* Run::stage(const PlanNode* node) {
  std::lock_guard lock(counters_mutex_);
  std::unique_ptr<RunStage>& slot = stages_[node];
  if (!slot) slot = std::make_unique<RunStage>(lanes_);
  return slot.get();
}

std::vector<std::pair<const PlanNode*, RunStage*>> Run::stages() const {
  std::lock_guard lock(counters_mutex_);
  std::vector<std::pair<const PlanNode*, RunStage*>> out;
  for (const auto& [node, stage] : stages_) out.emplace_back(node, stage.get());
  return out;
}

void Run::count_ignored(const PlanNode* node, const ErrorPtr& error) {
  std::lock_guard lock(counters_mutex_);
  IgnoredErrors& ignored = ignored_[node];
  ++ignored.count;
  if (ignored.first.size() < IgnoredErrors::kKept) ignored.first.push_back(error);
}

std::map<const PlanNode*, IgnoredErrors> Run::ignored() const {
  std::lock_guard lock(counters_mutex_);
  return ignored_;
}

void Run::note(const std::string& text) {
  std::lock_guard lock(counters_mutex_);
  if (std::ranges::find(notes_, text) == notes_.end()) notes_.push_back(text);
}

std::vector<std::string> Run::notes() const {
  std::lock_guard lock(counters_mutex_);
  return notes_;
}

double Run::cpu_share() const {
  const int64_t wall = task_wall_ns_.load(std::memory_order_relaxed);
  const int64_t cpu = task_cpu_ns_.load(std::memory_order_relaxed);
  return wall > 0 && cpu < wall ? static_cast<double>(cpu) / static_cast<double>(wall) : 1.0;
}

namespace {

// Bytes of one element as far as they are known; a batch of unknown remainder counts whole.
int64_t element_bytes(const PlanNode& node) {
  int64_t bytes = 0;
  for (const LeafSpec& leaf : node.spec.leaves()) {
    if (!leaf.is_tensor() || !leaf.shape.has_rank()) continue;
    int64_t size = dtype_size(leaf.dtype);
    for (int axis = 0; axis < leaf.shape.rank(); ++axis) {
      const Attr& batch = node.arg("batch_size");
      const bool rows =
          axis == 0 && leaf.shape[0] < 0 && batch.is_tensor() && batch.tensor().dims().rank() == 0;
      const int64_t n = rows ? batch.as_int() : leaf.shape[axis];
      if (n < 0 || (n > 0 && size > INT64_MAX / n)) {
        size = n < 0 ? 0 : INT64_MAX / 2;
        break;
      }
      size *= n;
    }
    bytes = std::min(INT64_MAX / 2, bytes + std::min(size, INT64_MAX / 2));
  }
  return bytes;
}

// A pipeline that cannot run inside its budget is refused before it starts.
void check_budget(const PlanNode& plan, int64_t budget) {
  for (const PlanNode* node : topological(plan)) {
    const int64_t bytes = element_bytes(*node);
    if (bytes > budget) {
      throw Error(Code::resource_exhausted,
                  "one element takes " + std::to_string(bytes) + " bytes, the memory budget is " +
                      std::to_string(budget) +
                      ": give more with --memory, or make smaller elements",
                  node->op->name);
    }
  }
}

}  // namespace

BlockIterator::BlockIterator(PlanPtr plan, const RunOptions& options,
                             std::shared_ptr<PipelineState> state, std::vector<Tensor> environment,
                             const std::optional<ResumePoint>& from)
    : environment_(std::move(environment)),
      number_(from ? from->iterator : state->next_iterator()),
      run_(std::make_unique<Run>(plan, options, state)),
      waker_(&run_->gate(), run_->schedule()) {
  ScopedPool scoped(&run_->pool());
  const ScopedRoomKeeper keeper(&run_->gate());
  ScopedRun current(run_.get());
  const ScopedThrottle throttle(run_->throttle());
  OpenContext context{run_.get(), environment_, 0, number_ == 0 ? 0 : mix(0, number_)};
  if (from) context.at = from->position;
  try {
    check_budget(*run_->plan(), run_->options().memory_bytes);
    root_ = context.open(run_->plan());
  } catch (const Error& e) {
    throw OpenError(e);
  }
}

BlockIterator::~BlockIterator() {
  run_->cancel();
  ScopedPool scoped(&run_->pool());
  root_.reset();
}

void BlockIterator::cancel() {
  run_->cancel();
  waker_.wake();
}

Poll BlockIterator::next(Block* out, int64_t max_rows, int64_t deadline_ns) {
  ScopedPool scoped(&run_->pool());
  ScopedRun current(run_.get());
  ScopedCancellation cancellation(run_->cancel_flag());
  const ScopedRoomKeeper keeper(&run_->gate());
  const ScopedThrottle throttle(run_->throttle());
  const ScopedReadTimes reads(run_->read_times(ThreadKind::consumer));
  run_->thread_clocks().consume();
  for (;;) {
    run_->check_cancelled();
    if (Schedule* schedule = run_->schedule()) schedule->run_some();
    // The thread's clock is a system call: where pulls are short, one in many is enough.
    constexpr uint64_t kLongPull = 20'000;
    constexpr int kSkipped = 15;
    const bool timed = unclocked_pulls_++ >= (long_pulls_ ? 0 : kSkipped);
    const int64_t wall = timed ? now_ns() : 0;
    const int64_t cpu = timed ? thread_cpu_ns() : 0;
    const uint64_t before = ticks();
    const Poll poll = root_->pull(out, {std::min(max_rows, run_->options().block_rows), &waker_});
    long_pulls_ = ticks() - before > kLongPull;
    if (timed) {
      unclocked_pulls_ = 0;
      if (long_pulls_) run_->count_task(now_ns() - wall, thread_cpu_ns() - cpu);
    }
    if (poll != Poll::pending) return poll;
    const int64_t waits_since = now_ns();
    const bool woken = waker_.wait_until(deadline_ns);
    waited_ns_ += now_ns() - waits_since;
    if (!woken) return poll;
    if (deadline_ns != INT64_MAX && now_ns() >= deadline_ns) return Poll::pending;
  }
}

std::vector<Tensor> run_sink(const PlanPtr& plan, const RunOptions& options,
                             std::shared_ptr<PipelineState> state) {
  PENSTOCK_CHECK(plan->op->sink);
  Run run(plan, options, state);
  ScopedPool scoped(&run.pool());
  ScopedRun current(&run);
  const ScopedRoomKeeper keeper(&run.gate());
  const ScopedThrottle throttle(run.throttle());
  OpenContext context{&run, {}};
  std::vector<Tensor> value = plan->op->run_sink(plan, context);
  // The value outlives the run's pool.
  ScopedPool outside(&process_pool());
  for (Tensor& t : value) t = t.copy();
  return value;
}

}  // namespace penstock
