// A FIFO queue in one contiguous buffer that grows and never shrinks.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace penstock::cluster {

template <typename T>
class Ring {
 public:
  bool empty() const { return size_ == 0; }
  // REQUIRES a non-empty queue.
  const T& front() const { return places_[first_]; }
  void pop_front() {
    first_ = (first_ + 1) & (places_.size() - 1);
    --size_;
  }
  void push_back(const T& value) {
    if (size_ == places_.size()) grow();
    places_[(first_ + size_) & (places_.size() - 1)] = value;
    ++size_;
  }

 private:
  void grow() {
    std::vector<T> more(places_.empty() ? 16 : 2 * places_.size());
    for (size_t i = 0; i < size_; ++i) more[i] = places_[(first_ + i) & (places_.size() - 1)];
    places_ = std::move(more);
    first_ = 0;
  }

  std::vector<T> places_;  // size is a power of two
  size_t first_ = 0, size_ = 0;
};

}  // namespace penstock::cluster
