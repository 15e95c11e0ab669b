// A run of another process, followed by looking at its counters again and again.
#pragma once

#include <deque>
#include <optional>

#include "job/attached_process.h"
#include "report/top_frame.h"

namespace penstock::cli {

class TopWatch {
 public:
  // `run` 0: the oldest run of the process that is open; when it is over, the oldest then.
  TopWatch(AttachedProcess process, int64_t run) : process_(std::move(process)), wanted_(run) {}

  // Reads the counters. Returns false if the process has no run open at the moment. Throws
  // NOT_FOUND if a run was asked for and is over, UNAVAILABLE as AttachedProcess does.
  bool look();
  // Returns what happened in the last seconds: at least between the last two looks, and long enough
  // for some elements to come. None before the second look.
  std::optional<TopView> view() const;
  // Returns false if the run that was asked for, or the process, has ended.
  bool is_alive() const;
  const AttachedProcess& process() const { return process_; }

 private:
  bool look_at(int64_t run);

  AttachedProcess process_;
  const int64_t wanted_;
  int64_t run_ = 0;
  int64_t runs_ = 0;
  bool over_ = false;        // the run that was asked for
  std::deque<Trace> looks_;  // of run_, the oldest first
};

}  // namespace penstock::cli
