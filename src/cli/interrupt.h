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

// Waits of a command that has no run of its own. While this object lives a signal ends the wait,
// not the program.
class WakeOnSignal {
 public:
  enum class Woken : uint8_t { time, input, signal };
  WakeOnSignal();
  ~WakeOnSignal();
  WakeOnSignal(const WakeOnSignal&) = delete;
  WakeOnSignal& operator=(const WakeOnSignal&) = delete;
  // Waits for the time, for input of `file` if it is not negative, or for a signal.
  Woken wait(double seconds, int file = -1) const;
};

// Calls `restore` before a second signal ends the program; null: nothing to restore.
void restore_before_end(void (*restore)());

}  // namespace penstock::cli
