#include "runtime/thread_clocks.h"

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <cinttypes>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>

namespace penstock {
namespace {

// Empty if the thread is gone or the system does not count.
std::optional<ThreadTimes> times_of(int64_t thread) {
  char proc_path[64];
  std::snprintf(proc_path, sizeof proc_path, "/proc/self/task/%" PRId64 "/schedstat", thread);
  const int fd = ::open(proc_path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return {};
  char text[128];
  const ssize_t got = ::read(fd, text, sizeof text - 1);
  ::close(fd);
  if (got <= 0) return {};
  text[got] = '\0';
  int64_t cpu_ns = 0, waited_ns = 0, slices = 0;
  const bool counted =
      std::sscanf(text, "%" SCNd64 " %" SCNd64 " %" SCNd64, &cpu_ns, &waited_ns, &slices) == 3 &&
      slices > 0;  // all 0 where the kernel does not count
  if (!counted) return {};
  return ThreadTimes{1, cpu_ns, waited_ns};
}

// Adds what a thread did since `before`.
void add_times(const std::optional<ThreadTimes>& now, const ThreadTimes& before, ThreadTimes* out) {
  ++out->threads;
  if (!now || !before.descheduled_ns || !out->descheduled_ns) {
    out->descheduled_ns.reset();
    return;
  }
  out->cpu_ns += now->cpu_ns - before.cpu_ns;
  *out->descheduled_ns += *now->descheduled_ns - *before.descheduled_ns;
}

}  // namespace

// Numbers are not used again, as those of the system are.
uint64_t ThreadClocks::this_thread() {
  static std::atomic<uint64_t> threads{0};
  thread_local const uint64_t number = ++threads;
  return number;
}

void ThreadClocks::join(ThreadKind kind) {
  const std::lock_guard lock(mutex_);
  threads_.insert(threads_.begin(), {kind, ::gettid(), ThreadTimes{1, 0, 0}});
}

void ThreadClocks::change_consumer(uint64_t here) {
  const std::lock_guard lock(mutex_);
  consumer_.store(here, std::memory_order_relaxed);
  if (consumers_ == 0) past_consumers_.descheduled_ns = 0;
  if (++consumers_ > kMostConsumers) {
    past_consumers_.descheduled_ns.reset();
    return;
  }
  if (consumers_ > 1) {
    const Thread& last = threads_.back();
    add_times(times_of(last.id), last.before, &past_consumers_);
    threads_.pop_back();
  }
  const int64_t id = ::gettid();
  threads_.push_back({ThreadKind::consumer, id, times_of(id).value_or(ThreadTimes{})});
}

ThreadTimes ThreadClocks::times(ThreadKind kind) const {
  const std::lock_guard lock(mutex_);
  ThreadTimes out;
  out.descheduled_ns = 0;
  if (kind == ThreadKind::consumer) out = past_consumers_;
  for (const Thread& t : threads_) {
    if (t.kind == kind) add_times(times_of(t.id), t.before, &out);
  }
  return out;
}

std::optional<double> cores_busy_seconds() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return {};
  std::ifstream file("/proc/stat");
  int64_t busy = 0, all = 0;
  for (std::string line; std::getline(file, line) && line.starts_with("cpu");) {
    int core = -1;
    int64_t user = 0, nice = 0, system = 0, idle = 0, waits = 0, hard = 0, soft = 0, stolen = 0;
    const int n = std::sscanf(line.c_str(),
                              "cpu%d %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64
                              " %" SCNd64 " %" SCNd64 " %" SCNd64,
                              &core, &user, &nice, &system, &idle, &waits, &hard, &soft, &stolen);
    if (n != 9 || core < 0 || core >= CPU_SETSIZE || !CPU_ISSET(core, &set)) continue;
    const int64_t used = user + nice + system + hard + soft + stolen;
    busy += used;
    all += used + idle + waits;
  }
  if (all == 0) return {};
  return static_cast<double>(busy) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

}  // namespace penstock
