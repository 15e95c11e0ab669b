#include "plan/syntax.h"

#include <utility>

namespace penstock {
namespace {

ExprPtr take_first_child(Expr& expr) {
  if (expr.operand) return std::move(expr.operand);
  return expr.items.empty() ? nullptr : std::move(expr.items.front());
}

}  // namespace

// A chain of ten thousand stages is ten thousand nodes deep on its left side, too deep for the
// destructors to call each other: unlink that side in a loop.
Expr::~Expr() {
  ExprPtr next = take_first_child(*this);
  while (next && next.use_count() == 1) {
    // use_count() orders nothing; a counted copy orders us behind the last other owner's reads.
    ExprPtr(next).reset();
    next = take_first_child(const_cast<Expr&>(*next));
  }
}

}  // namespace penstock
