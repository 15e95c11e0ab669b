// One way of a server's link as a switch port or a shaper has it: a FIFO queue of segments, and the
// TCP senders before it.
//
// A sender, one for each worker, may have a window of bytes on the way: in the queue, or carried
// and their acknowledgement not back, which waits in the other way's queue. A window that held its
// sender back grows by half a segment a round trip and shrinks to 0.7 when the queue was full, as
// cubic's does where round trips are short. So who comes first goes first, a burst goes in one
// piece, long transfers share by their windows, and what waits in the queue is what it is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "cluster/ring.h"

namespace penstock::cluster {

class SegmentQueue {
 public:
  struct Limits {
    double rate = 0;                 // bytes/s; positive
    double queue_bytes = 0;          // more than these wait only as the single segment of a sender
    double burst_bytes = 0;          // what a link that rested carries at once
    double duplex_loss = 0;          // share of the rate lost while the other way is busy, too
    double sender_queue_s = 0;       // a sender in front of its own queue keeps no more there than
                                     // these seconds of its pace; 0: no limit
    double least_segment_bytes = 0;  // segments are of 16 KB at most, but of these at least
  };
  // `back` carries the acknowledgements; it outlives this.
  SegmentQueue(const Limits& limits, int32_t workers, const SegmentQueue* back);

  // More bytes for the worker's sender. They go in the order in which they were offered.
  void offer(int32_t worker, double bytes, double now_s);
  // The worker's next transfer ends with so many of its bytes more. REQUIRES none that is expected.
  void expect(int32_t worker, double bytes, double now_s);

  // When happen() has to be called; infinity: not before the next offer or expect.
  double next_s() const;
  // What happens at next_s(). Returns the worker whose expected transfer is there, or -1.
  int32_t happen();

  // Bytes that a message which comes now finds before it, at most queue_bytes.
  double queued_bytes(double now_s) const;
  double carried() const { return carried_; }  // bytes
  double busy_s() const { return busy_s_; }
  // Bytes that the sender has on the way, and that it may have.
  double on_the_way(int32_t worker) const { return sender(worker).on_the_way; }
  double window(int32_t worker) const { return sender(worker).window; }

 private:
  struct Sender {
    double waits = 0;     // bytes that have not joined the queue
    double in_queue = 0;  // of those on the way
    double on_the_way = 0;
    double window = 0;
    double round_trip_s = 0;  // smoothed; 0: none seen
    double next_cut_s = 0;    // the window does not shrink before
    double left = 0;          // bytes of the expected transfer; negative: of those after it
    bool expected = false;
    bool held = false;  // by its window
  };
  struct Segment {
    int32_t worker = 0;
    double bytes = 0, sent_s = 0;
  };
  struct Acknowledgement {
    double time_s = 0;
    Segment of;
  };

  const Sender& sender(int32_t worker) const { return senders_[static_cast<size_t>(worker)]; }
  Sender& sender(int32_t worker) { return senders_[static_cast<size_t>(worker)]; }
  void send(int32_t worker, double now_s);
  bool may_send(Sender* s, double bytes, double now_s);
  void acknowledge(double now_s);
  void acknowledge(const Segment& segment, double now_s);
  void serve(double now_s);

  Limits limits_;
  double segment_bytes_;
  const SegmentQueue* back_;
  std::vector<Sender> senders_;
  Ring<Segment> queue_;                                      // the first is being carried
  double queued_bytes_ = 0;                                  // all of them
  double done_s_ = std::numeric_limits<double>::infinity();  // with the first
  double carrying_s_ = 0;                                    // what it takes
  Ring<Acknowledgement> acknowledgements_;                   // by time
  std::vector<int32_t> there_;  // workers whose expected transfer was there before it was expected
  double there_s_ = 0;          // when the last of them was expected
  int32_t held_ = 0;            // senders
  double credit_bytes_;         // of the token bucket, at rested_s_
  double rested_s_ = 0;
  double carried_ = 0, busy_s_ = 0;
};

}  // namespace penstock::cluster
