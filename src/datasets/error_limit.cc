#include "datasets/error_limit.h"

#include <algorithm>

#include "plan/format.h"

namespace penstock {

std::vector<Param> ErrorLimit::params() {
  return {option("max_count", Param::Kind::integer, {}),
          option("max_rate", Param::Kind::floating, {})};
}

void ErrorLimit::check(const NodeDraft& draft) {
  if (!draft.node.args["max_count"].is_none())
    draft.int_at_least("max_count", 0, "must not be negative", 0);
  const Attr& rate = draft.node.args["max_rate"];
  if (!rate.is_none() && !(rate.as_float() >= 0 && rate.as_float() <= 1))
    NodeDraft::fail("max_rate", "must lie between 0 and 1: " + format_float(rate.as_float()));
}

ErrorLimit::ErrorLimit(const PlanPtr& node, Run* run) : node_(node), run_(run) {
  const Attr &count = node->arg("max_count"), &rate = node->arg("max_rate");
  max_count_ = count.is_none() ? INT64_MAX : count.as_int();
  max_rate_ = rate.is_none() ? 1 : rate.as_float();
}

void ErrorLimit::start(const ErrorLimitMark& from) {
  rows_ = from.rows;
  errors_ = from.errors;
}

ErrorPtr ErrorLimit::admit(const ErrorPtr& error) {
  ++rows_;
  ++errors_;
  std::string limit;
  if (errors_ > max_count_) limit = "max_count=" + std::to_string(max_count_);
  const auto most = max_rate_ * static_cast<double>(std::max(rows_, kLeastRows));
  if (static_cast<double>(errors_) > most)
    limit = "max_rate=" + format_float(max_rate_) + " of " + std::to_string(rows_);
  if (limit.empty()) {
    run_->count_ignored(node_.get(), error);
    return nullptr;
  }
  return std::make_shared<const Error>(
      error->code(),
      error->message() + " (error " + std::to_string(errors_) + ", more than " + limit + ")",
      error->node());
}

}  // namespace penstock
