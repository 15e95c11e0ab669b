// Speed of storage that is slowed down (io/throttle.h).
#pragma once

#include <cstdint>

namespace penstock {

struct ThrottleOptions {
  double bytes_per_second = 0;  // of all reads together; 0: unlimited
  int64_t open_ns = 0;          // delay before each open
  int64_t read_ns = 0;          // delay before each read
  bool overrides = false;       // the throttle of a pipeline does not count beside it

  bool is_on() const { return bytes_per_second > 0 || open_ns > 0 || read_ns > 0; }
};

}  // namespace penstock
