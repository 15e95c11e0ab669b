// Time advances by events: the first segment has been carried (done_s_), one has crossed its
// worker's link (deliveries_), an acknowledgement arrives, or an expected transfer was complete
// before expect() announced it (there_). A worker's link that is fast enough makes no events. An
// acknowledgement matters only to a sender that its window holds back, so next_s() considers
// acknowledgements only if held_ > 0; the next event processes the others late. This keeps the
// number of events near one per segment.
//
// While the reverse queue is empty and no acknowledgement waits, a segment is acknowledged at the
// moment when it has been carried.
//
// A sender with nothing in flight may always send one segment, even into a full queue. This is
// necessary: send() runs only for the worker whose segment was carried or acknowledged, so a sender
// with nothing in flight would wait forever.
//
// A full queue cuts a window at most once per queueing delay (next_cut_s), as TCP reacts once to
// all losses of a round trip. docs/design/006 has the measurements that led here.
#include "cluster/segment_queue.h"

#include <algorithm>

namespace penstock::cluster {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr double kNothing_bytes = 1e-6;                // rounding error
constexpr double kPacket_bytes = 1448;                 // payload of a full Ethernet frame
constexpr double kSegment_bytes = 11 * kPacket_bytes;  // bytes that the sender passes down at once
constexpr double kFirstWindow = 0.5;                   // as a share of the queue
constexpr double kGrowth = 0.53;           // packets a round trip: cubic's 3 (1 - 0.7) / (1 + 0.7)
constexpr double kCut = 0.7;               // share of the window that remains after a loss
constexpr double kPace = 1.2;              // windows per round trip: Linux's pacing of a sender
constexpr double kRoundTripShare = 0.125;  // weight of a new sample in the smoothed round trip

}  // namespace

SegmentQueue::SegmentQueue(const Limits& limits, int32_t workers, const SegmentQueue* back,
                           WorkerLinks* own, int32_t way)
    : limits_(limits),
      segment_bytes_(
          std::max(limits.least_segment_bytes,
                   std::clamp(limits.queue_bytes / 8, 2 * kPacket_bytes, kSegment_bytes))),
      back_(back),
      own_(own),
      way_(way),
      senders_(static_cast<size_t>(workers)),
      credit_bytes_(limits.burst_bytes) {
  for (Sender& s : senders_)
    s.window = std::max(2 * segment_bytes_, kFirstWindow * limits.queue_bytes);
}

void SegmentQueue::offer(int32_t worker, double bytes, double now_s) {
  Sender& s = sender(worker);
  const bool waited = s.waits > kNothing_bytes;
  s.waits += bytes;
  if (waited) return;  // the sender waits for something else than bytes
  acknowledge(now_s);
  send(worker, now_s);
  serve(now_s);
}

void SegmentQueue::expect(int32_t worker, double bytes, double now_s) {
  Sender& s = sender(worker);
  s.left += bytes;
  s.expected = true;
  if (s.left <= kNothing_bytes) {
    there_.push_back(worker);
    there_s_ = now_s;
  }
}

double SegmentQueue::next_s() const {
  if (!there_.empty()) return there_s_;
  const bool waits = held_ > 0 && !acknowledgements_.empty();
  const double out = waits ? std::min(done_s_, acknowledgements_.front().time_s) : done_s_;
  return deliveries_.empty() ? out : std::min(out, deliveries_.top().time_s);
}

int32_t SegmentQueue::happen() {
  if (!there_.empty()) {
    const int32_t out = there_.back();
    there_.pop_back();
    sender(out).expected = false;
    return out;
  }
  const double now_s = next_s();
  if (!deliveries_.empty() && deliveries_.top().time_s <= now_s) {
    acknowledge(now_s);
    const Segment first = deliveries_.top().of;
    deliveries_.pop();
    return deliver(first, now_s);
  }
  acknowledge(now_s);
  serve(now_s);
  if (now_s < done_s_) return -1;
  const Segment first = queue_.front();
  queue_.pop_front();
  queued_bytes_ -= first.bytes;
  carried_ += first.bytes;
  done_s_ = kNever;
  rested_s_ = now_s;
  sender(first.worker).in_queue -= first.bytes;
  const double there_s =
      own_ == nullptr ? now_s
                      : own_->pass(first.worker, way_, first.bytes, now_s - carrying_s_, now_s);
  if (there_s <= now_s) return deliver(first, now_s);
  deliveries_.push({there_s, delivered_++, first});
  serve(now_s);
  return -1;
}

int32_t SegmentQueue::deliver(const Segment& segment, double now_s) {
  Sender& s = sender(segment.worker);
  s.left -= segment.bytes;
  const double back_s = back_->queued_bytes(now_s) / limits_.rate;
  if (back_s > 0 || !acknowledgements_.empty()) {
    acknowledgements_.push_back({now_s + back_s, segment});
  } else {
    acknowledge(segment, now_s);
  }
  send(segment.worker, now_s);
  serve(now_s);
  if (!s.expected || s.left > kNothing_bytes) return -1;
  s.expected = false;
  return segment.worker;
}

double SegmentQueue::queued_bytes(double now_s) const {
  if (queue_.empty()) return 0;
  const double left_s = std::max(0.0, done_s_ - now_s);
  const double carried = carrying_s_ > 0 ? 1 - left_s / carrying_s_ : 1;
  return std::min(limits_.queue_bytes, queued_bytes_ - carried * queue_.front().bytes);
}

bool SegmentQueue::may_send(int32_t worker, double bytes, double now_s) {
  Sender* const s = &sender(worker);
  const bool held = s->on_the_way > 0 && s->on_the_way + bytes > s->window;
  held_ += held - s->held;
  s->held = held;
  if (held) return false;
  if (limits_.sender_queue_s > 0 && s->round_trip_s > 0) {
    const double pace = kPace * s->window / s->round_trip_s;
    if (s->in_queue > std::max(2 * segment_bytes_, limits_.sender_queue_s * pace)) return false;
  }
  if (queued_bytes_ + bytes <= limits_.queue_bytes || s->on_the_way == 0) return true;
  if (now_s >= s->next_cut_s) {
    s->window = std::max(2 * segment_bytes_, kCut * s->window);
    s->next_cut_s = now_s + queued_bytes_ / limits_.rate;
  }
  return false;
}

void SegmentQueue::send(int32_t worker, double now_s) {
  Sender& s = sender(worker);
  while (s.waits > kNothing_bytes) {
    const double bytes = std::min(segment_bytes_, s.waits);
    if (!may_send(worker, bytes, now_s)) break;
    s.waits -= bytes;
    s.in_queue += bytes;
    s.on_the_way += bytes;
    queued_bytes_ += bytes;
    queue_.push_back({worker, bytes, now_s});
  }
}

void SegmentQueue::acknowledge(double now_s) {
  while (!acknowledgements_.empty() && acknowledgements_.front().time_s <= now_s) {
    const Acknowledgement first = acknowledgements_.front();
    acknowledgements_.pop_front();
    acknowledge(first.of, first.time_s);
    send(first.of.worker, now_s);
  }
}

void SegmentQueue::acknowledge(const Segment& segment, double now_s) {
  Sender& s = sender(segment.worker);
  const double round_trip_s = now_s - segment.sent_s;
  s.round_trip_s += (s.round_trip_s > 0 ? kRoundTripShare : 1) * (round_trip_s - s.round_trip_s);
  const bool room = own_ == nullptr || own_->has_room(segment.worker, way_, now_s);
  if (s.held && room) s.window += kGrowth * kPacket_bytes * segment.bytes / s.window;
  s.on_the_way = std::max(0.0, s.on_the_way - segment.bytes);
}

// Starts to carry the first segment.
void SegmentQueue::serve(double now_s) {
  if (done_s_ < kNever || queue_.empty()) return;
  credit_bytes_ = std::min(limits_.burst_bytes, credit_bytes_ + (now_s - rested_s_) * limits_.rate);
  const double at_once = std::min(queue_.front().bytes, credit_bytes_);
  credit_bytes_ -= at_once;
  const bool both = !back_->queue_.empty();
  carrying_s_ =
      (queue_.front().bytes - at_once) / (limits_.rate * (both ? 1 - limits_.duplex_loss : 1));
  done_s_ = now_s + carrying_s_;
  busy_s_ += carrying_s_;
}

}  // namespace penstock::cluster
