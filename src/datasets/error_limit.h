// How many errors a failure policy lets pass.
#pragma once

#include "plan/node.h"
#include "runtime/checkpoint.h"
#include "runtime/run.h"

namespace penstock {

struct ErrorLimitMark {
  static constexpr MarkForm kForm{"errors", 1};
  int64_t rows = 0;    // so far in this pass
  int64_t errors = 0;  // of them that the policy covered
  static void fields(auto& mark, auto& f) {
    f.count("rows", mark.rows);
    f.count("errors", mark.errors);
  }
};

// max_count: so many in a pass; none: any number. max_rate: so large a part of the elements so far,
// of which at least kLeastRows are counted, so that an early error does not end it; none: any.
class ErrorLimit {
 public:
  static constexpr int64_t kLeastRows = 100;
  static std::vector<Param> params();
  static void check(const NodeDraft& draft);

  ErrorLimit(const PlanPtr& node, Run* run);
  // Resumes; before the first row.
  void start(const ErrorLimitMark& from);
  ErrorLimitMark mark() const { return {rows_, errors_}; }
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
