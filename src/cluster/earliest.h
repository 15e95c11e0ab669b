// Minimum of a fixed number of times, each of which may change at any moment.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace penstock::cluster {

// A tournament tree: set() costs the height of the tree, reads are constant.
class Earliest {
 public:
  static constexpr double kNever = std::numeric_limits<double>::infinity();

  // All times start as kNever. REQUIRES count > 0.
  explicit Earliest(size_t count)
      : leaves_(std::bit_ceil(count)), time_s_(leaves_, kNever), winner_(2 * leaves_) {
    for (size_t i = 0; i < leaves_; ++i) winner_[leaves_ + i] = static_cast<int32_t>(i);
    for (size_t i = leaves_ - 1; i > 0; --i) winner_[i] = winner_[2 * i];
  }

  void set(size_t index, double time_s) {
    time_s_[index] = time_s;
    for (size_t i = (leaves_ + index) / 2; i > 0; i /= 2) {
      const int32_t left = winner_[2 * i], right = winner_[2 * i + 1];
      winner_[i] = at(right) < at(left) ? right : left;
    }
  }
  // Index of the earliest time; the lowest index among equals.
  int32_t index() const { return leaves_ == 1 ? 0 : winner_[1]; }
  double time_s() const { return at(index()); }

 private:
  double at(int32_t index) const { return time_s_[static_cast<size_t>(index)]; }

  size_t leaves_;
  std::vector<double> time_s_;
  std::vector<int32_t> winner_;  // by node; node 1 is the root
};

}  // namespace penstock::cluster
