// Starts threads that the system may refuse: a limit on processes (ulimit -u), a cgroup's pids.max,
// no memory for a stack.
#pragma once

#include <cerrno>
#include <cstdlib>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "base/error.h"

namespace penstock {

// Starts a thread that runs `work`. Returns false, with `thread` untouched, if the system refuses.
// A std::jthread's may take a std::stop_token.
template <typename Thread, typename Work>
bool start_thread(Thread* thread, Work&& work) {
  try {
    *thread = Thread(std::forward<Work>(work));
    return true;
  } catch (const std::system_error&) {
    return false;
  }
}

// Returns the error for work that needs a thread of its own.
inline Error no_thread_error(const std::string& use) {
  return {Code::resource_exhausted,
          "the system starts no thread " + use +
              "; raise the limit on threads (ulimit -u, pids.max of the cgroup)"};
}

}  // namespace penstock
