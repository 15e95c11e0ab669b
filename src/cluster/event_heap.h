// The simulator's event queue: ordered by time, then by creation.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace penstock::cluster {

struct Event {
  double time_s;   // not negative, so that the bits compare like integers, which saves branches
  uint64_t order;  // breaks ties of time: order of creation
  int32_t worker, op;
  bool operator<(const Event& o) const { return key() < o.key(); }

 private:
  using Key = unsigned __int128;
  Key key() const { return Key{std::bit_cast<uint64_t>(time_s)} << 64 | order; }
};

// A binary heap that leaves the root slot empty after a pop. The next push nearly always follows at
// once and fills it, which saves one pass through the heap.
class EventHeap {
 public:
  bool empty() const { return heap_.size() == (open_ ? 1 : 0); }
  // REQUIRES a non-empty heap.
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
  // Replaces the root by `e` and restores the heap.
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
  bool open_ = false;  // the root was popped
};

}  // namespace penstock::cluster
