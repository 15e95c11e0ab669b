// Lets `penstock trace --attach`, `explain --attach` and `penstock top` ask a process about its
// runs.
//
// The first run of a process opens a socket (job/attach_directory.h) and starts one thread, which
// sleeps until somebody asks: it costs a stack and a file descriptor, and elements never meet it.
// The thread reads live counters as Iterator::trace does. The socket is removed when the process
// exits; a killed process leaves it for the next reader to remove (job/attached_process.h). A
// forked child answers for its own runs only.
//
// A connection is one request, a line of JSON, and one answer, a line of JSON:
//   {"ask": "runs"}                                  {"pid", "version", "runs": [{"run", ...}]}
//   {"ask": "trace", "run": 1, "file_sizes": true}   {"trace": {...}}
//   anything else, or a run that is over             {"error": {"code", "message"}}
#pragma once

#include <cstdint>
#include <functional>

#include "trace/trace.h"

namespace penstock {

inline constexpr int kAttachVersion = 1;

// Makes a run known for the lifetime of this object, which must end before the run does; its trace
// is left in a file if the user wants that (job/trace_drop.h).
class AttachableRun {
 public:
  // Captures the run, called from another thread; looks up sizes of files only if asked to. Not
  // known if `run` does not count, if the user wants no questions, or if there is no socket.
  using Capture = std::function<Trace(bool file_sizes)>;
  AttachableRun(const Run& run, Capture capture);
  // Waits for a capture under way.
  ~AttachableRun();
  AttachableRun(const AttachableRun&) = delete;
  AttachableRun& operator=(const AttachableRun&) = delete;

 private:
  class AttachServer* server_ = nullptr;  // null: not known
  Capture last_;                          // for the trace that the job leaves; null: it leaves none
  int64_t number_ = 0;
};

}  // namespace penstock
