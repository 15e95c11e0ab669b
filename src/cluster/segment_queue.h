// One direction of a server's link, as a switch port or a shaper implements it: a FIFO queue of
// segments, and the TCP senders before it.
//
// Each worker has one sender, which may have a window of bytes in flight: in the queue, or carried
// but not acknowledged (acknowledgements wait in the reverse queue). A window that holds its sender
// back grows by half a segment per round trip, and shrinks to 0.7 when the queue was full, as
// cubic's does when round trips are short. As a result the first to arrive is served first, a burst
// stays in one piece, and long transfers share by their windows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <queue>
#include <vector>

#include "cluster/ring.h"
#include "cluster/worker_links.h"

namespace penstock::cluster {

class SegmentQueue {
 public:
  struct Limits {
    double rate = 0;  // bytes/s; positive
    double queue_bytes =
        0;  // a full queue accepts only the single segment of a sender with nothing in flight
    double burst_bytes = 0;     // bytes that an idle link passes at once
    double duplex_loss = 0;     // share of the rate lost while the reverse direction is busy
    double sender_queue_s = 0;  // a sender directly before its own queue keeps at most this many
                                // seconds of its pace in it; 0: no limit
    double least_segment_bytes = 0;  // segments have at most 16 KB, but at least this
  };
  // `back` carries the acknowledgements; it must outlive this queue, as `own` must: the workers'
  // links, which segments cross after this one. `way`: 0 to the workers, 1 from them.
  SegmentQueue(const Limits& limits, int32_t workers, const SegmentQueue* back,
               WorkerLinks* own = nullptr, int32_t way = 0);

  // Gives the worker's sender more bytes. They are sent in the order of the offers.
  void offer(int32_t worker, double bytes, double now_s);
  // Announces that the worker's next transfer ends after `bytes` more of its bytes. REQUIRES that
  // no other transfer of the worker is expected.
  void expect(int32_t worker, double bytes, double now_s);

  // Returns the time of the next event; infinity: none before the next offer or expect.
  double next_s() const;
  // Processes that event. Returns the worker whose expected transfer is complete, or -1.
  int32_t happen();

  // Returns the bytes queued before a message that arrives now, at most queue_bytes.
  double queued_bytes(double now_s) const;
  double carried() const { return carried_; }  // bytes
  double busy_s() const { return busy_s_; }
  // Bytes that the sender has in flight, and its limit.
  double on_the_way(int32_t worker) const { return sender(worker).on_the_way; }
  double window(int32_t worker) const { return sender(worker).window; }

 private:
  struct Sender {
    double waits = 0;     // bytes not yet in the queue
    double in_queue = 0;  // part of on_the_way
    double on_the_way = 0;
    double window = 0;
    double round_trip_s = 0;  // smoothed; 0: no sample yet
    double next_cut_s = 0;    // the window does not shrink before this time
    double left = 0;  // bytes until the expected transfer is complete; negative: bytes already
                      // carried after it
    bool expected = false;
    bool held = false;  // by the window
  };
  struct Segment {
    int32_t worker = 0;
    double bytes = 0, sent_s = 0;
  };
  struct Acknowledgement {
    double time_s = 0;
    Segment of;
  };
  struct Delivery {
    double time_s = 0;
    uint64_t order = 0;  // breaks ties of time
    Segment of;
    bool operator>(const Delivery& o) const {
      return time_s > o.time_s || (time_s == o.time_s && order > o.order);
    }
  };

  const Sender& sender(int32_t worker) const { return senders_[static_cast<size_t>(worker)]; }
  Sender& sender(int32_t worker) { return senders_[static_cast<size_t>(worker)]; }
  void send(int32_t worker, double now_s);
  bool may_send(int32_t worker, double bytes, double now_s);
  void acknowledge(double now_s);
  void acknowledge(const Segment& segment, double now_s);
  void serve(double now_s);
  // Returns the worker whose expected transfer is complete with the segment, or -1.
  int32_t deliver(const Segment& segment, double now_s);

  Limits limits_;
  double segment_bytes_;
  const SegmentQueue* back_;
  WorkerLinks* own_;
  int32_t way_;
  std::vector<Sender> senders_;
  Ring<Segment> queue_;      // the first segment is being carried
  double queued_bytes_ = 0;  // of all segments
  double done_s_ =
      std::numeric_limits<double>::infinity();  // when the first segment has been carried
  double carrying_s_ = 0;                       // time to carry the first segment
  Ring<Acknowledgement> acknowledgements_;      // in order of time
  // Segments on the workers' links, the first to arrive on top.
  std::priority_queue<Delivery, std::vector<Delivery>, std::greater<>> deliveries_;
  uint64_t delivered_ = 0;
  std::vector<int32_t> there_;  // workers whose transfer was complete before expect() announced it
  double there_s_ = 0;          // time of the last such expect()
  int32_t held_ = 0;            // number of senders held by their windows
  double credit_bytes_;         // tokens of the bucket at rested_s_
  double rested_s_ = 0;
  double carried_ = 0, busy_s_ = 0;
};

}  // namespace penstock::cluster
