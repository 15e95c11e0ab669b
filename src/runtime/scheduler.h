// Two pools of threads for a run: one for computing, one for waiting on storage.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <queue>
#include <thread>
#include <vector>

#include "runtime/core_budget.h"

namespace penstock {

// A piece of work. Run once, on one thread; must not block on other tasks.
class Task {
 public:
  virtual ~Task() = default;
  virtual void run() = 0;
};
using TaskPtr = std::unique_ptr<Task>;

// `threads` workers; the task with the smallest priority first, then in order of submission.
// The others start when tasks come. Thread-safe.
class ThreadPool final : private CoreBudget::Member {
 public:
  struct Hooks {
    void (*begin)(void* context) = nullptr;  // around each task, on its thread
    void (*end)(void* context) = nullptr;
    void* context = nullptr;
    std::atomic<int64_t>* at_work = nullptr;  // counts tasks queued or running
  };
  static constexpr uint64_t kLeastUrgent = UINT64_MAX;

  // `cores`: whose cores its tasks use; null: they use none worth counting.
  ThreadPool(int threads, const char* name, Hooks hooks, CoreBudget* cores = nullptr);
  // Tasks not begun are dropped; waits for running ones.
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  // Starts the first worker, if there is none yet. Throws RESOURCE_EXHAUSTED if the system refuses
  // it. Call before the first submit; workers that cannot be started later are done without.
  void start();
  // `last`: the caller is a task that ends with this; its own thread goes on with what is most
  // urgent, so that none is woken for one task.
  void submit(TaskPtr task, uint64_t priority = 0, bool last = false);
  int threads() const { return threads_.load(std::memory_order_relaxed); }
  // Runs at most max(1, threads) tasks at once from now on.
  void set_threads(int threads);
  // Without threads: a Schedule runs the queued tasks one by one. Before the first submit.
  void be_scheduled() { scheduled_ = true; }
  size_t queued();
  // Runs task number `i` of those in this thread. REQUIRES be_scheduled().
  void run_queued(size_t i);
  // Stops and joins; what is submitted later is dropped.
  void stop();

  // The pool that this thread belongs to, null for none, and the priority of its task, 0 for none.
  static ThreadPool* current();
  static uint64_t current_priority();
  // This thread's task waits for other tasks, and later goes on: meanwhile another thread does the
  // pool's work.
  void stand_still();
  void go_on();
  // The system has refused a thread.
  bool is_short_of_threads() const {
    return scheduled_ || short_of_threads_.load(std::memory_order_relaxed);
  }

 private:
  struct Entry {
    uint64_t priority;
    uint64_t number;
    TaskPtr task;
  };
  static bool later(const Entry& a, const Entry& b);
  bool may_add_worker() const;
  void run(Entry entry);
  void add_worker();
  bool may_run() { return !heap_.empty() && running_ - still_ < threads() && take_core(); }
  bool take_core() { return !cores_ || cores_->take(this); }
  void give_core() {
    if (cores_) cores_->give_back(this);
  }
  void core_came() override;
  void work();

  std::atomic<int> threads_;
  const char* const name_;
  const Hooks hooks_;
  CoreBudget* const cores_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<Entry> heap_;
  std::vector<std::thread> workers_;
  uint64_t submitted_ = 0;
  int idle_ = 0;
  int running_ = 0, still_ = 0;  // workers with a task; those of them that stand still
  std::atomic<bool> short_of_threads_{false};
  bool stopping_ = false;
  bool scheduled_ = false;
};

// Cores that this process may use: affinity and cgroup quota, at least 1.
int usable_cores();
// Bytes of memory that this process may use: physical memory or the cgroup's limit.
int64_t usable_memory_bytes();
// Peak and current resident set of this process.
int64_t peak_resident_bytes();
int64_t resident_bytes();

}  // namespace penstock
