// The workers' own links, one FIFO in each direction, beside the servers' queues of segments.
//
// A segment crosses the server's link first, then the worker's, in both directions. The order of
// the two changes no rate; it moves a queue of at most a window. The second link lets a segment
// through as it comes (cut-through), so a link that is fast enough adds no time at all: results are
// continuous in the rate, up to no limit.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace penstock::cluster {

class WorkerLinks {
 public:
  // `rate`: payload bytes/s of each, each way; 0: no limit. `queue_bytes`: capacity before it.
  WorkerLinks(double rate, double queue_bytes, int32_t workers)
      : rate_(rate),
        queue_bytes_(queue_bytes),
        free_s_(rate > 0 ? 2 * static_cast<size_t>(workers) : 0) {}

  // Returns when bytes that crossed a server's link from `began_s` to `now_s` have crossed the
  // worker's. REQUIRES calls in the order of `now_s`. `way`: 0 to the worker, 1 from it.
  double pass(int32_t worker, int32_t way, double bytes, double began_s, double now_s) {
    if (rate_ <= 0) return now_s;
    double& free_s = free_s_[index(worker, way)];
    free_s = std::max(free_s, began_s) + bytes / rate_;
    return std::max(now_s, free_s);
  }
  // Returns the seconds for which a message that arrives now waits.
  double wait_s(int32_t worker, int32_t way, double now_s) const {
    return rate_ > 0 ? std::max(0.0, free_s_[index(worker, way)] - now_s) : 0;
  }
  // Returns whether the queue is not full: else windows do not grow.
  bool has_room(int32_t worker, int32_t way, double now_s) const {
    return wait_s(worker, way, now_s) * rate_ < queue_bytes_;
  }

 private:
  static size_t index(int32_t worker, int32_t way) { return static_cast<size_t>(2 * worker + way); }

  double rate_, queue_bytes_;
  std::vector<double> free_s_;  // by worker and way: when all bytes so far have crossed
};

}  // namespace penstock::cluster
