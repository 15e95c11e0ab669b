// The input pipeline of a worker as a queue: it makes one element after the other, in times that
// vary, into a buffer; the worker takes one at the start of each step.
//
// The pipeline starts an element as soon as there is room for it: start_n = max(end_{n-1},
// taken_{n-k}) with a buffer of k elements, end_n = start_n + the time of the element. Without a
// buffer it starts when the worker asks. Times are gamma distributed: a spread of 0 is a constant,
// 1 an exponential time. Closed forms: docs/cluster-model.md.
#pragma once

#include <cstdint>
#include <vector>

#include "base/random.h"

namespace penstock::cluster {

struct Feed {
  double rate = 0;     // elements/s that a pipeline makes while it never waits; 0: no limit
  double spread = 0;   // standard deviation of the time between elements, as a share of its mean
  int32_t buffer = 2;  // elements made ahead, the one being made included; 0: made when asked
};

class FeedQueue {
 public:
  FeedQueue(const Feed& feed, uint64_t seed, int32_t worker);

  // Takes the next element for a worker that asks at `now_s`; returns when the worker has it.
  // REQUIRES times that do not go back.
  double take(double now_s);
  int64_t taken() const { return taken_; }
  int64_t waited() const { return waited_; }  // elements for which the worker waited

 private:
  double draw();

  Feed feed_;
  RandomStream random_;
  std::vector<double> taken_s_;  // of the last `buffer` elements, a ring
  double end_s_ = 0;             // when the last element was made
  int64_t taken_ = 0, waited_ = 0;
};

}  // namespace penstock::cluster
