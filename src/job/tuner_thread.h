// The one thread of the process that tunes its runs.
#pragma once

#include <cstdint>

namespace penstock {

// A look of the tuner at a run.
struct TunerLook {
  double next_seconds = 0.1;  // until the next look
  bool in_use = true;         // its consumer has asked for elements since the last look
};

class TunerThread {
 public:
  // A run that is tuned.
  class Client {
   public:
    virtual ~Client() = default;
    // Looks at the run, which is one of `runs` that are in use.
    virtual TunerLook tune(int runs) = 0;
  };

  // Returns false if the system starts no thread.
  static bool add(Client* client);
  // Returns when the client is not being called any more, nor ever again.
  static void remove(Client* client);
  static int64_t cpu_ns();
};

}  // namespace penstock
