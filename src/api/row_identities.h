// Identities of the elements that a user's operator emits.
#pragma once

#include <deque>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/random.h"
#include "data/block.h"
#include "penstock/extend.h"

namespace penstock {

// Follows what is read and what is emitted, by the relation that the operator states, and finds
// elements that contradict it.
class RowIdentities {
 public:
  explicit RowIdentities(Relation relation) : relation_(relation) {}

  // Whether elements have the identities of input elements.
  bool follow() const { return relation_ != Relation::unknown && relation_ != Relation::regroup; }
  // Whether all elements read so far are done with. Meaningful for same and subset.
  bool settled() const { return relation_ != Relation::same || read_.empty(); }

  void add_read(uint64_t lineage, uint64_t epoch) {
    if (relation_ == Relation::same) {
      read_.emplace_back(lineage, epoch);
    } else {
      last_ = {lineage, epoch};
      any_ = true;
      emitted_ = 0;
    }
  }
  // Notes that an element is emitted now. Throws FAILED_PRECONDITION if there must be none.
  void add_emitted() {
    if (!follow()) return;
    const Id id = next();
    lineages_.push_back(id.first);
    epochs_.push_back(id.second);
  }
  // Returns the identity of an element that fails now, in place of one that would be emitted.
  Origin add_failed() {
    const Id id = next();
    return Origin(id.first, 0, id.second);
  }
  // The pass has ended: throws FAILED_PRECONDITION if elements are missing.
  void check_end(bool input_ended) const {
    if (relation_ == Relation::same && input_ended && !read_.empty())
      contradict("ends " + std::to_string(read_.size()) + " elements before its input");
  }
  // Identities of the elements emitted since the last call.
  Origin take() { return Origin::of(std::exchange(lineages_, {}), std::exchange(epochs_, {})); }

 private:
  using Id = std::pair<uint64_t, uint64_t>;  // lineage and epoch

  Id next() {
    if (relation_ == Relation::same) {
      if (read_.empty()) contradict("emits an element without having read another one");
      const Id id = read_.front();
      read_.pop_front();
      return id;
    }
    if (!any_) contradict("emits an element before it has read one");
    if (relation_ == Relation::subset && emitted_ > 0)
      contradict("emits more than one element for an element of its input");
    const auto child = static_cast<uint64_t>(emitted_++);
    return {child == 0 ? last_.first : mix(last_.first, child), last_.second};
  }
  [[noreturn]] void contradict(const std::string& what) const {
    throw Error(Code::failed_precondition,
                "its facts say " +
                    std::string(relation_ == Relation::same     ? "Relation::same"
                                : relation_ == Relation::subset ? "Relation::subset"
                                                                : "Relation::multiply") +
                    ", but it " + what + "; state another relation");
  }

  const Relation relation_;
  std::deque<Id> read_;  // same: not emitted yet
  Id last_;              // others: read last
  bool any_ = false;
  int64_t emitted_ = 0;  // for last_
  RowIds lineages_, epochs_;
};

}  // namespace penstock
