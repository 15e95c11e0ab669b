// The simulator's clock: events by time, and by order of their making at the same time.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace penstock::cluster {

struct Event {
  double time_s;   // not negative: their bits are in their order, which saves branches
  uint64_t order;  // of events at the same time
  int32_t worker, op;
  bool operator<(const Event& o) const { return key() < o.key(); }

 private:
  using Key = unsigned __int128;
  Key key() const { return Key{std::bit_cast<uint64_t>(time_s)} << 64 | order; }
};

// A binary heap whose first place stays open after a pop: what is pushed next, as nearly always,
// takes it, which saves a way through the heap.
class EventHeap {
 public:
  bool empty() const { return heap_.size() == (open_ ? 1 : 0); }
  // REQUIRES that it is not empty.
  const Event& top() {
    if (open_) close();
    return heap_.front();
  }
  Event pop() {
    if (open_) close();
    open_ = true;
    return heap_.front();
  }
  void push(const Event& e) {
    if (open_) {
      open_ = false;
      return sink(e);
    }
    size_t at = heap_.size();
    heap_.push_back(e);
    for (; at > 0 && e < heap_[(at - 1) / 2]; at = (at - 1) / 2) heap_[at] = heap_[(at - 1) / 2];
    heap_[at] = e;
  }

 private:
  void close() {
    open_ = false;
    const Event last = heap_.back();
    heap_.pop_back();
    if (!heap_.empty()) sink(last);
  }
  // Puts `e` in place of the first.
  void sink(const Event& e) {
    const size_t n = heap_.size();
    size_t at = 0;
    for (size_t child = 1; child < n; child = 2 * at + 1) {
      if (child + 1 < n && heap_[child + 1] < heap_[child]) ++child;
      if (!(heap_[child] < e)) break;
      heap_[at] = heap_[child];
      at = child;
    }
    heap_[at] = e;
  }

  std::vector<Event> heap_;
  bool open_ = false;  // the first was popped
};

}  // namespace penstock::cluster
