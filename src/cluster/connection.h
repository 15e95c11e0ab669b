// The transfers of one worker over one link: order of their pieces, and flow control.
#pragma once

#include <cstdint>
#include <vector>

#include "cluster/rig.h"
#include "cluster/waiting_queue.h"

namespace penstock::cluster {

// Transfers of one worker over one link. One piece is in flight at a time. With flow control
// (LinkScheduler::credit_s) sent bytes stay uncredited until credited() is called, once for each
// piece, in order.
class Connection {
 public:
  void add(const LinkScheduler& scheduler, int32_t op, double priority, double bytes);

  // Starts the next piece and returns its bytes. Starts nothing (see busy()) if no piece waits or
  // no window is open. REQUIRES !busy().
  double send(const LinkScheduler& scheduler);
  bool busy() const { return busy_; }
  int32_t op() const { return current_.op; }  // of the piece in flight
  double bytes() const { return bytes_; }     // of all transfers: bytes that have not arrived

  struct Arrived {
    int32_t op;    // transfer that is complete with this piece, or -1
    double bytes;  // of the piece
  };
  // Ends the piece in flight. REQUIRES busy().
  Arrived arrived(const LinkScheduler& scheduler);
  void credited(const LinkScheduler& scheduler);

 private:
  struct Credit {
    Waiting rest;
    double bytes;
  };
  double window(const LinkScheduler& s, const Waiting& next) const;
  void wait_again(const LinkScheduler& s, const Waiting& rest);

  WaitingQueue queue_;
  std::vector<Credit> credits_;  // of pieces that have arrived; the credit is on its way back
  Waiting current_{};
  double piece_ = 0;  // bytes of current_ in flight
  double bytes_ = 0;
  double uncredited_ = 0;  // bytes sent but not credited; with flow control
  double grown_ = 1;       // factor by which windows have grown
  bool busy_ = false;
};

}  // namespace penstock::cluster
