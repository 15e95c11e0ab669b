// Asks a running process about its runs (job/attach_server.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trace/trace.h"

namespace penstock {

struct AttachedRun {
  int64_t run = 0;  // its number in the process, from 1
  double seconds = 0;
  int64_t elements = 0;
  int64_t stages = 0;
};

class AttachedProcess {
 public:
  // Throws NOT_FOUND if there is no such process, or if it has no socket; PERMISSION_DENIED if it
  // belongs to another user, or if the directory of its socket is not safe.
  explicit AttachedProcess(int64_t pid);

  int64_t pid() const { return pid_; }
  const std::string& command() const { return command_; }

  // Both throw UNAVAILABLE if the process has ended, or does not answer in time because it is
  // stopped.
  std::vector<AttachedRun> runs() const;
  // Throws NOT_FOUND if the run is over.
  Trace trace(int64_t run, bool file_sizes) const;

 private:
  friend std::vector<AttachedProcess> attachable_processes();
  AttachedProcess(int64_t pid, std::string socket);
  std::string ask(const std::string& request) const;

  int64_t pid_;
  std::string socket_, command_;
};

// Returns false if the process has ended, or has yet to be waited for by its parent.
bool is_running(int64_t pid);

// Returns what a run did between two traces of it.
Trace trace_between(const Trace& earlier, const Trace& later);

// Returns the processes of this user that can be asked, in the order of their numbers. Removes the
// sockets of killed ones.
std::vector<AttachedProcess> attachable_processes();

}  // namespace penstock
