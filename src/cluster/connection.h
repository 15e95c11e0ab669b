// The transfers of one worker over one link: which piece goes next, and what flow control lets go.
#pragma once

#include <cstdint>
#include <vector>

#include "cluster/rig.h"
#include "cluster/waiting_queue.h"

namespace penstock::cluster {

// One piece is under way at a time. With flow control (LinkScheduler::credit_s) what is sent stays
// uncredited until credited() is called, once for each piece in their order.
class Connection {
 public:
  void add(const LinkScheduler& scheduler, int32_t op, double priority, double bytes);

  // Begins the next piece: its bytes; nothing when there is none, or no window left for it.
  // REQUIRES !busy().
  double send(const LinkScheduler& scheduler);
  bool busy() const { return busy_; }
  int32_t op() const { return current_.op; }  // of the piece under way
  double bytes() const { return bytes_; }     // of all transfers, that have not arrived

  struct Arrived {
    int32_t op;    // that has arrived with this piece, or -1
    double bytes;  // of the piece
  };
  // REQUIRES busy().
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
  std::vector<Credit> credits_;  // arrived, the word of it on its way back
  Waiting current_{};
  double piece_ = 0;  // of it, on its way
  double bytes_ = 0;
  double uncredited_ = 0;  // sent, with flow control
  double grown_ = 1;       // windows, times what they were
  bool busy_ = false;
};

}  // namespace penstock::cluster
