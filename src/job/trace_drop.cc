#include "job/trace_drop.h"

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "base/error.h"
#include "base/fork.h"
#include "io/file.h"
#include "io/file_system.h"

namespace penstock {
namespace {

// HOST-PID-NANOSECONDS.trace: no other process has the name, whenever it runs.
std::string new_name(const std::string& folder) {
  char host[256] = "host";
  ::gethostname(host, sizeof host - 1);
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return joined_name(folder, std::string(host) + "-" + std::to_string(::getpid()) + "-" +
                                 std::to_string(now.count()) + ".trace");
}

// State of this process; a forked child begins anew.
struct Dropped {
  ForkMutex mutex;
  uint32_t forks = UINT32_MAX;
  std::string folder;  // empty: none is asked for
  std::string name;    // empty: nothing yet
  double seconds = 0;
  bool has_failed = false;

  // REQUIRES the lock.
  void begin() {
    if (forks == fork_count()) return;
    forks = fork_count();
    const char* const given = std::getenv("PENSTOCK_TRACE_DIR");
    folder = given ? given : "";
    name.clear();
    seconds = 0;
    has_failed = false;
  }
};

Dropped& dropped() {
  static auto* const out = new Dropped;
  return *out;
}

}  // namespace

bool drops_traces() {
  Dropped& own = dropped();
  const std::lock_guard lock(own.mutex);
  own.begin();
  return !own.folder.empty();
}

void drop_trace(const Trace& trace) {
  Dropped& own = dropped();
  const std::lock_guard lock(own.mutex);
  own.begin();
  if (own.folder.empty() || own.has_failed || trace.interval.seconds < own.seconds) return;
  if (own.name.empty()) own.name = new_name(own.folder);
  own.seconds = trace.interval.seconds;
  try {
    make_folder(own.folder);
    write_trace(own.name, trace);
  } catch (const std::exception& e) {
    own.has_failed = true;
    std::fprintf(stderr, "penstock: PENSTOCK_TRACE_DIR: no trace is left: %s\n", e.what());
  }
}

}  // namespace penstock
