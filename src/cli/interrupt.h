// What Ctrl-C (SIGINT) and SIGTERM do.
#pragma once

#include <string>

#include "runtime/run.h"

namespace penstock::cli {

// From now on a signal asks the current run to stop; without one, or when it comes again, it ends
// the program, with no unfinished file left behind. Call it before any thread is started.
void handle_signals(const std::string& command);

// The run that a signal asks to stop while this lives.
class CancelOnSignal {
 public:
  explicit CancelOnSignal(BlockIterator* iterator);
  ~CancelOnSignal();
  static bool requested();
};

}  // namespace penstock::cli
