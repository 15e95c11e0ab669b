// Handling of Ctrl-C (SIGINT) and SIGTERM.
#pragma once

#include <string>

#include "job/traced_run.h"

namespace penstock::cli {

// From now on a signal asks the current run to stop. Without a run, or on a second signal, it ends
// the program and removes unfinished files. Call it before any thread is started.
void handle_signals(const std::string& command);

// Makes a run the one that a signal asks to stop, for the lifetime of this object.
class CancelOnSignal {
 public:
  explicit CancelOnSignal(BlockIterator* iterator);
  ~CancelOnSignal();
  CancelOnSignal(const CancelOnSignal&) = delete;
  CancelOnSignal& operator=(const CancelOnSignal&) = delete;
  static bool requested();
};

}  // namespace penstock::cli
