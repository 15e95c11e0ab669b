// The one thread of the process that tunes its runs.
#pragma once

#include <cstdint>

namespace penstock {

class TunerThread {
 public:
  // A run that is tuned.
  class Client {
   public:
    virtual ~Client() = default;
    // Looks at the run, which is one of `runs`. Returns in how many seconds to come again.
    virtual double tune(int runs) = 0;
  };

  // Returns false if the system starts no thread.
  static bool add(Client* client);
  // Returns when the client is not being called any more, nor ever again.
  static void remove(Client* client);
  static int64_t cpu_ns();
};

}  // namespace penstock
