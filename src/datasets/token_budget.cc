#include "datasets/token_budget.h"

#include <algorithm>

namespace penstock {

bool TokenBudget::add(int64_t tokens, int64_t rows) {
  if (!limited()) return true;
  if (tokens > most_) {
    throw Error(Code::invalid_argument,
                "an element of " + std::to_string(tokens) +
                    " tokens is larger than max_tokens: " + std::to_string(most_));
  }
  const int64_t longest = rows == 0 ? tokens : std::max(longest_, tokens);
  if (longest > 0 && rows + 1 > most_ / longest) return false;
  longest_ = longest;
  return true;
}

bool check_max_tokens(const NodeDraft& draft) {
  if (draft.node.args["max_tokens"].is_none()) return false;
  draft.int_at_least("max_tokens", 1, "must be positive", 1);
  return true;
}

TokenBudget open_token_budget(const OpenContext& context, const PlanNode& node) {
  const Attr most = context.arg(node, "max_tokens");
  if (most.is_none()) return {};
  if (most.as_int() < 1) {
    throw Error(Code::invalid_argument,
                "max_tokens must be positive: " + std::to_string(most.as_int()));
  }
  return TokenBudget(most.as_int());
}

}  // namespace penstock
