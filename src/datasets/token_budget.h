// Batches by a budget of tokens instead of a count: the argument max_tokens.
#pragma once

#include "plan/node.h"
#include "runtime/open.h"

namespace penstock {

// What the batch being filled holds: rows times its longest row, as they are once padded.
class TokenBudget {
 public:
  TokenBudget() = default;  // no limit
  explicit TokenBudget(int64_t most) : most_(most) {}
  bool limited() const { return most_ > 0; }
  // Counts a row of `tokens` tokens behind `rows` others; false, and nothing counted, when the
  // batch has no room for it. Throws INVALID_ARGUMENT for a row that no batch has room for.
  bool add(int64_t tokens, int64_t rows);

 private:
  int64_t most_ = 0;
  int64_t longest_ = 0;
};

// Checks the argument in infer; whether it is given.
bool check_max_tokens(const NodeDraft& draft);
// The budget when it is opened. Throws INVALID_ARGUMENT.
TokenBudget open_token_budget(const OpenContext& context, const PlanNode& node);

}  // namespace penstock
