#include "runtime/scheduler.h"

#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <string>
#include <utility>

#include "base/start_thread.h"

namespace penstock {
namespace {

thread_local ThreadPool* current_pool_of_threads = nullptr;
thread_local uint64_t task_priority = 0;

}  // namespace

ThreadPool* ThreadPool::current() { return current_pool_of_threads; }
uint64_t ThreadPool::current_priority() { return task_priority; }

ThreadPool::ThreadPool(int threads, const char* name, Hooks hooks, CoreBudget* cores)
    : threads_(threads), name_(name), hooks_(hooks), cores_(cores) {
  if (cores_) cores_->join(this, threads);
}

ThreadPool::~ThreadPool() { stop(); }

bool ThreadPool::later(const Entry& a, const Entry& b) {
  return a.priority != b.priority ? a.priority > b.priority : a.number > b.number;
}

bool ThreadPool::may_add_worker() const {
  // An idle worker may have been woken for a task already, and not have taken it yet.
  return !scheduled_ && idle_ < static_cast<int>(heap_.size()) &&
         static_cast<int>(workers_.size()) - still_ < threads();
}

void ThreadPool::add_worker() {
  std::thread worker;
  if (start_thread(&worker, [this] { work(); })) {
    workers_.push_back(std::move(worker));
  } else {
    short_of_threads_.store(true, std::memory_order_relaxed);
  }
}

void ThreadPool::start() {
  std::lock_guard lock(mutex_);
  if (stopping_ || scheduled_ || !workers_.empty()) return;
  add_worker();
  if (workers_.empty()) throw no_thread_error(std::string("for the pool ") + name_);
}

void ThreadPool::submit(TaskPtr task, uint64_t priority, bool last) {
  {
    std::lock_guard lock(mutex_);
    if (stopping_) return;
    if (hooks_.at_work) hooks_.at_work->fetch_add(1);
    heap_.push_back({priority, submitted_++, std::move(task)});
    std::ranges::push_heap(heap_, later);
    if (last && heap_.size() == 1) return;
    if (may_add_worker()) add_worker();
  }
  wake_.notify_one();
}

void ThreadPool::work() {
  pthread_setname_np(pthread_self(), name_);
  current_pool_of_threads = this;
  std::unique_lock lock(mutex_);
  for (;;) {
    ++idle_;
    wake_.wait(lock, [this] { return stopping_ || may_run(); });
    --idle_;
    if (stopping_) return;  // it has taken no core
    std::ranges::pop_heap(heap_, later);
    Entry entry = std::move(heap_.back());
    heap_.pop_back();
    ++running_;
    lock.unlock();
    run(std::move(entry));
    give_core();
    lock.lock();
    --running_;
  }
}

void ThreadPool::run(Entry entry) {
  task_priority = entry.priority;
  if (hooks_.begin) hooks_.begin(hooks_.context);
  entry.task->run();
  entry.task.reset();
  if (hooks_.end) hooks_.end(hooks_.context);
  if (hooks_.at_work) hooks_.at_work->fetch_sub(1);
}

size_t ThreadPool::queued() {
  const std::lock_guard lock(mutex_);
  return heap_.size();
}

void ThreadPool::run_queued(size_t i) {
  std::unique_lock lock(mutex_);
  Entry entry = std::move(heap_[i]);
  heap_.erase(heap_.begin() + static_cast<std::ptrdiff_t>(i));
  std::ranges::make_heap(heap_, later);
  lock.unlock();
  ThreadPool* const pool = std::exchange(current_pool_of_threads, this);
  const uint64_t priority = task_priority;
  run(std::move(entry));
  current_pool_of_threads = pool;
  task_priority = priority;
}

void ThreadPool::set_threads(int threads) {
  {
    const std::lock_guard lock(mutex_);
    threads_.store(std::max(1, threads), std::memory_order_relaxed);
    if (!stopping_ && !heap_.empty() && may_add_worker()) add_worker();
  }
  wake_.notify_all();
}

void ThreadPool::core_came() {
  {
    const std::lock_guard lock(mutex_);
  }  // a worker that was refused waits by now
  wake_.notify_all();
}

void ThreadPool::stand_still() {
  give_core();
  {
    std::lock_guard lock(mutex_);
    ++still_;
    if (stopping_ || heap_.empty()) return;
    if (may_add_worker()) add_worker();
  }
  wake_.notify_one();
}

void ThreadPool::go_on() {
  if (cores_) CoreBudget::take_anyway(this);
  std::lock_guard lock(mutex_);
  --still_;
}

void ThreadPool::stop() {
  std::vector<Entry> dropped;
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
    dropped.swap(heap_);
  }
  wake_.notify_all();
  if (hooks_.at_work) hooks_.at_work->fetch_sub(static_cast<int64_t>(dropped.size()));
  for (std::thread& worker : workers_) worker.join();
  workers_.clear();
  if (cores_) cores_->leave(this);
}

namespace {

// The smallest limit on the way up the cgroup tree, -1 for none. Version 2, then version 1.
int64_t cgroup_number(const char* v2_file, const char* v1_path, double* period) {
  std::ifstream v2(std::string("/sys/fs/cgroup/") + v2_file);
  std::string first;
  if (v2 >> first) {
    if (period) v2 >> *period;
    return first == "max" ? -1 : std::stoll(first);
  }
  std::ifstream v1(v1_path);
  int64_t value = -1;
  return v1 >> value ? value : -1;
}

}  // namespace

int usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  int cores = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
  double period = 100000;
  const int64_t quota = cgroup_number("cpu.max", "/sys/fs/cgroup/cpu/cpu.cfs_quota_us", &period);
  if (quota > 0)
    cores = std::min(
        cores, std::max(1, static_cast<int>(std::lround(static_cast<double>(quota) / period))));
  return std::max(1, cores);
}

int64_t usable_memory_bytes() {
  const int64_t physical = int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGE_SIZE);
  const int64_t limit =
      cgroup_number("memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes", nullptr);
  return limit > 0 ? std::min(physical, limit) : physical;
}

int64_t peak_resident_bytes() {
  // getrusage's figure is at least that of the process which started this one.
  int64_t kib = 0;
  if (std::FILE* f = std::fopen("/proc/self/status", "r")) {
    char line[256];
    while (std::fgets(line, sizeof line, f)) {
      if (std::sscanf(line, "VmHWM: %" SCNd64, &kib) == 1) break;
    }
    std::fclose(f);
  }
  if (kib == 0) {  // no such line here
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    kib = usage.ru_maxrss;
  }
  return kib * 1024;
}

int64_t resident_bytes() {
  long pages = 0, resident = 0;
  if (std::FILE* f = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(f, "%ld %ld", &pages, &resident) != 2) resident = 0;
    std::fclose(f);
  }
  return int64_t{resident} * sysconf(_SC_PAGE_SIZE);
}

}  // namespace penstock
