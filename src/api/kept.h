// Texts and trees that the nodes of a plan point into, shared by all datasets derived from it.
#pragma once

#include <memory>
#include <utility>
#include <vector>

namespace penstock {

// A set that only grows. Deriving a dataset shares the lists of its inputs, so that a chain of n
// stages costs n items, not n * n.
class Kept {
 public:
  void add(std::shared_ptr<const void> item) { own().items.push_back(std::move(item)); }
  // Keeps what `other` keeps now.
  void add_all_of(const Kept& other) {
    if (other.last_) own().below.push_back(other.last_);
  }

 private:
  struct Link {
    std::vector<std::shared_ptr<const void>> items;
    std::vector<std::shared_ptr<Link>> below;
    Link() = default;
    Link(const Link&) = delete;
    Link& operator=(const Link&) = delete;
    // A loop, not recursion: chains may have ten thousands of stages.
    ~Link() {
      std::vector<std::shared_ptr<Link>> left = std::move(below);
      while (!left.empty()) {
        const std::shared_ptr<Link> one = std::move(left.back());
        left.pop_back();
        if (one.use_count() > 1) continue;
        for (std::shared_ptr<Link>& next : one->below) left.push_back(std::move(next));
        one->below.clear();
      }
    }
  };
  // Others may share the last link, which then must not change.
  Link& own() {
    if (!last_ || last_.use_count() > 1) {
      auto link = std::make_shared<Link>();
      if (last_) link->below.push_back(std::move(last_));
      last_ = std::move(link);
    }
    return *last_;
  }

  std::shared_ptr<Link> last_;
};

}  // namespace penstock
