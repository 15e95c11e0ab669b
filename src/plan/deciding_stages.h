// The stages of a plan that decide its elements.
#pragma once

#include <map>
#include <vector>

#include "plan/node.h"

namespace penstock {

// Leaves out stages without effect, prefetches, and caches of what is the same in each pass: a
// checkpoint does not depend on them. Stages of nested plans are not looked at. The plan outlives
// the object.
class DecidingStages {
 public:
  explicit DecidingStages(const PlanNode& plan);
  // Sources first. Each has only such stages below it.
  const std::vector<const PlanNode*>& stages() const { return stages_; }
  // Number of the plan's stage that stage `i` is, sources first, from 1; one more than that of the
  // last stage for an `i` after it.
  size_t number(size_t i) const;
  // Index of the plan's stage `node`. REQUIRES: it is not left out.
  size_t index_of(const PlanNode& node) const;
  const PlanNode& root() const { return *root_; }
  // Index of the stage before each cache that is left out, in ascending order.
  const std::vector<size_t>& caches() const { return caches_; }

 private:
  std::map<const PlanNode*, size_t> numbers_;
  std::map<const PlanNode*, const PlanNode*> of_;  // by the plan's node
  std::vector<const PlanNode*> stages_;
  PlanPtr root_;
  std::vector<size_t> caches_;
};

}  // namespace penstock
