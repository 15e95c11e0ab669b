// One FIFO queue before a link: flows take turns of their windows, first come, first served.
//
// A sender keeps a window of bytes in the queue; when the first of them go, the next join behind
// what others have there meanwhile. So who comes first is served a whole window, then the next, and
// a burst within the window goes in one piece.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace penstock::cluster {

struct Flow {
  int32_t worker = 0;
  double left = 0;    // bytes
  double rate = 0;    // bytes/s
  double weight = 1;  // of its share
  double window = 0;  // bytes of a turn
  double turn = 0;    // what is left of this one, at most its window
};

// What leaves the queue next for good: `flow` has no bytes left when `bytes` of all have gone.
struct FirstDone {
  size_t flow = 0;
  double bytes = 0;
};

// Flows stand in the order of their turns, the first has its turn now. REQUIRES a flow, and windows
// of more than 0 where there are several. Takes time for each flow, not for each turn.
FirstDone first_done(const std::vector<Flow>& flows);
// Serves so many bytes. REQUIRES that they are no more than first_done says.
void serve_turns(double bytes, std::vector<Flow>* flows);

}  // namespace penstock::cluster
