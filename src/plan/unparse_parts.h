// Pieces of the way from plan to tree; unparse.h is the way in.
#pragma once

#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plan/node.h"
#include "plan/syntax.h"

namespace penstock::unparsing {

// Trees.
ExprPtr name_expr(std::string name);
ExprPtr integer_expr(int64_t value);
ExprPtr text_expr(std::string_view value);
ExprPtr none_expr();
ExprPtr list_expr(std::vector<ExprPtr> items);
ExprPtr tuple_expr(std::vector<ExprPtr> items);
ExprPtr dict_expr(const std::vector<std::string>& keys, std::vector<ExprPtr> items);
ExprPtr unary_expr(std::string op, ExprPtr operand);
ExprPtr binary_expr(std::string op, ExprPtr left, ExprPtr right);
ExprPtr field_expr(ExprPtr base, const std::string& key);
ExprPtr index_expr(ExprPtr base, ExprPtr index);
ExprPtr let_expr(PatternPtr pattern, ExprPtr value, ExprPtr body);
ExprPtr pipe_expr(ExprPtr left, ExprPtr call);
PatternPtr name_pattern(std::string name);

// A call that is put together argument by argument, in the documented order.
class CallBuilder {
 public:
  explicit CallBuilder(std::string callee) : callee_(std::move(callee)) {}
  // By position while nothing before it was left out or named.
  void add(const Param& param, ExprPtr value, bool by_name = false);
  void add_loose(ExprPtr value);
  // An argument was left out, or loose arguments came: what follows is named.
  void name_what_follows() { positional_ = false; }
  bool positional() const { return positional_; }
  ExprPtr finish();

 private:
  std::string callee_;
  std::vector<Entry> entries_;
  bool positional_ = true;
};

// How a constant may be spelled where it stands.
enum class Place : uint8_t {
  alone,     // literals get their default dtype: int64 and float32 are bare
  opposite,  // next to an operand of the same dtype that is no literal: all numbers are bare
  mixed,     // among others: no number is bare
};
ExprPtr constant_expr(const Tensor& value, Place place);

// The tree of an argument; captures are what `environment` calls them.
ExprPtr attr_expr(const Attr& attr, Param::Kind kind, std::span<const ExprPtr> environment);

// Names that mean something else where a new one is made.
using Names = std::set<std::string>;

// `hint` when it can be a name here, else one that resembles it, or `fallback`; adds it to `taken`.
std::string new_name(const std::string& hint, std::string_view fallback, Names* taken);

// How often a nested pipeline uses each value of its environment: as an argument, and in functions.
struct EnvironmentUse {
  int in_args = 0;
  int in_functions = 0;
};
std::vector<EnvironmentUse> environment_use(const PlanNode& root, size_t environment);

// The values of its environment that the function needs; it may capture more.
std::set<int> needed_sources(const Function& function);

// A pipeline inside a function, as one expression.
ExprPtr plan_expr(const PlanNode& root, std::span<const ExprPtr> environment, const Names& taken);

// A lambda; `environment` says what the captures are called.
ExprPtr lambda_expr(const Function& function, std::span<const ExprPtr> environment,
                    const Names& taken);

}  // namespace penstock::unparsing
