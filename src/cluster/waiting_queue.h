// Priority queue of transfers or ops that wait for a link or a lane.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <tuple>
#include <vector>

namespace penstock::cluster {

// The lowest round goes first, then the lowest priority.
struct Waiting {
  int32_t round;
  double priority;
  int32_t op;
  double left;        // bytes
  bool first = true;  // nothing was sent yet
  bool operator>(const Waiting& o) const {
    return std::tie(round, priority, op) > std::tie(o.round, o.priority, o.op);
  }
};

// A heap plus a sorted row: most entries arrive in order and go into the row, which is cheaper.
class WaitingQueue {
 public:
  bool empty() const { return begun_ == row_.size() && heap_.empty(); }
  // REQUIRES !empty(); so does pop().
  const Waiting& top() const { return from_row() ? row_[begun_] : heap_.top(); }
  void pop() {
    if (!from_row()) return heap_.pop();
    if (++begun_ < row_.size()) return;
    row_.clear();
    begun_ = 0;
  }
  void push(const Waiting& w) {
    if (!row_.empty() && row_.back() > w) return heap_.push(w);
    if (begun_ > kMostGone && 2 * begun_ > row_.size()) {
      row_.erase(row_.begin(), row_.begin() + static_cast<ptrdiff_t>(begun_));
      begun_ = 0;
    }
    row_.push_back(w);
  }

 private:
  static constexpr size_t kMostGone = 64;

  bool from_row() const {
    return begun_ < row_.size() && (heap_.empty() || heap_.top() > row_[begun_]);
  }

  std::vector<Waiting> row_;  // ascending; entries before begun_ are gone
  size_t begun_ = 0;
  std::priority_queue<Waiting, std::vector<Waiting>, std::greater<>> heap_;
};

}  // namespace penstock::cluster
