// Structural equality, without recursion: chains are deep on their left side.
#include <cmath>
#include <utility>
#include <vector>

#include "plan/format.h"

namespace penstock {
namespace {

class Comparison {
 public:
  bool run(const Expr& a, const Expr& b) {
    exprs_.push_back({&a, &b});
    while (!exprs_.empty() || !patterns_.empty()) {
      if (!patterns_.empty()) {
        const auto [x, y] = patterns_.back();
        patterns_.pop_back();
        if (!same_pattern(*x, *y)) return false;
      } else {
        const auto [x, y] = exprs_.back();
        exprs_.pop_back();
        if (!same_expr(*x, *y)) return false;
      }
    }
    return true;
  }

 private:
  // Left for later; false when only one is there.
  bool later(const ExprPtr& a, const ExprPtr& b) {
    if (a && b) exprs_.push_back({a.get(), b.get()});
    return !a == !b;
  }

  bool later(const PatternPtr& a, const PatternPtr& b) {
    if (a && b) patterns_.push_back({a.get(), b.get()});
    return !a == !b;
  }

  bool later(const Entry& a, const Entry& b) {
    return a.kind == b.kind && a.key == b.key && later(a.value, b.value);
  }

  bool later(const Subscript& a, const Subscript& b) {
    return a.kind == b.kind && later(a.index, b.index) && later(a.begin, b.begin) &&
           later(a.end, b.end) && later(a.step, b.step);
  }

  template <class T>
  bool later(const std::vector<T>& a, const std::vector<T>& b) {
    if (a.size() != b.size()) return false;
    for (size_t i = 0; i < a.size(); ++i) {
      if (!later(a[i], b[i])) return false;
    }
    return true;
  }

  static bool same_number(double a, double b) {
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
    return a == b && std::signbit(a) == std::signbit(b);
  }

  bool same_expr(const Expr& a, const Expr& b) {
    if (&a == &b) return true;
    return a.kind == b.kind && a.text == b.text && a.integer_value == b.integer_value &&
           same_number(a.float_value, b.float_value) && a.bool_value == b.bool_value &&
           a.own_op == b.own_op && later(a.operand, b.operand) && later(a.items, b.items) &&
           later(a.entries, b.entries) && later(a.subscripts, b.subscripts) &&
           later(a.patterns, b.patterns);
  }

  bool same_pattern(const Pattern& a, const Pattern& b) {
    return a.kind == b.kind && a.name == b.name && a.keys == b.keys && a.rest == b.rest &&
           later(a.items, b.items) && later(a.default_value, b.default_value);
  }

  std::vector<std::pair<const Expr*, const Expr*>> exprs_;
  std::vector<std::pair<const Pattern*, const Pattern*>> patterns_;
};

}  // namespace

bool same_tree(const Expr& a, const Expr& b) { return Comparison().run(a, b); }

}  // namespace penstock
