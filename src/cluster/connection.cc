#include "cluster/connection.h"

#include <algorithm>

namespace penstock::cluster {

void Connection::add(const LinkScheduler& s, int32_t op, double priority, double bytes) {
  bytes_ += bytes;
  queue_.push({s.pieces == Pieces::in_turn ? current_.round : 0, priority, op, bytes});
}

// Returns the most bytes of `next` that may be sent now; 0: no limit.
double Connection::window(const LinkScheduler& s, const Waiting& next) const {
  return s.credit_s < 0 ? (next.first ? s.first_bytes : s.then_bytes) : s.first_bytes * grown_;
}

double Connection::send(const LinkScheduler& s) {
  if (queue_.empty()) return 0;
  double room = queue_.top().left;
  if (const double most = window(s, queue_.top()); most > 0) room = std::min(room, most);
  if (s.credit_s >= 0 && s.connection_bytes > 0) {
    const double open = s.connection_bytes * grown_ - uncredited_;
    if (open < std::min(room, 1.0)) return 0;
    room = std::min(room, open);
  }
  current_ = queue_.top();
  queue_.pop();
  current_.first = false;
  current_.left -= room;
  piece_ = room;
  if (s.credit_s >= 0) uncredited_ += piece_;
  busy_ = true;
  return piece_;
}

void Connection::wait_again(const LinkScheduler& s, const Waiting& rest) {
  const int32_t later = s.pieces == Pieces::by_priority ? 0 : 1;
  if (rest.left > 0) queue_.push({rest.round + later, rest.priority, rest.op, rest.left, false});
}

Connection::Arrived Connection::arrived(const LinkScheduler& s) {
  busy_ = false;
  bytes_ -= piece_;
  if (s.credit_s < 0) {
    wait_again(s, current_);
  } else {
    credits_.push_back({current_, piece_});
  }
  return {current_.left > 0 ? -1 : current_.op, piece_};
}

void Connection::credited(const LinkScheduler& s) {
  const Credit credit = credits_.front();
  credits_.erase(credits_.begin());
  uncredited_ -= credit.bytes;
  // A window that was used up is too small: grow it, as gRPC does by its estimate of bandwidth
  // times delay.
  if (credit.rest.left > 0 && s.first_bytes * grown_ < s.most_bytes) grown_ *= s.growth;
  wait_again(s, credit.rest);
}

}  // namespace penstock::cluster
