// How many errors a failure policy lets pass.
#pragma once

#include "plan/node.h"
#include "runtime/run.h"

namespace penstock {

// max_count: so many in a pass; none: any number. max_rate: so large a part of the elements so far,
// of which at least kLeastRows are counted, so that an early error does not end it; none: any.
class ErrorLimit {
 public:
  static constexpr int64_t kLeastRows = 100;
  static std::vector<Param> params();
  static void check(const NodeDraft& draft);

  ErrorLimit(const PlanPtr& node, Run* run);
  void start(int64_t rows, int64_t errors);
  int64_t rows() const { return rows_; }
  int64_t errors() const { return errors_; }
  // Elements that did not fail.
  void pass(int64_t rows) { rows_ += rows; }
  // One that did: null when the policy covers it (it is counted in the run), else the error to
  // give.
  ErrorPtr admit(const ErrorPtr& error);

 private:
  PlanPtr node_;
  Run* run_;
  int64_t max_count_;
  double max_rate_;
  int64_t rows_ = 0, errors_ = 0;
};

}  // namespace penstock
