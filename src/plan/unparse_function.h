// One function on its way to a lambda: which values get names, and how each value is spelled.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "plan/unparse_parts.h"

namespace penstock::unparsing {

class FunctionUnparser {
 public:
  // `environment`: what the captures' sources are called outside. `taken`: names of the places
  // around.
  FunctionUnparser(const Function& function, std::span<const ExprPtr> environment, Names taken);
  ExprPtr lambda();
  // What stands behind the arrow; all there is in a side of a conditional.
  ExprPtr body();

 private:
  // Where a value comes from and how it will stand in the text.
  struct Value {
    const FunctionNode* producer = nullptr;  // null: an input or a capture
    size_t output = 0;                       // which of the producer's
    int uses = 0;                            // in the text
    bool must_name = false;                  // captured by something that can only see names
    int depth = 0;                           // nesting of its expression
    std::string name;                        // empty: spelled out where it is used
  };

  Value& at(ValueId id) { return values_[static_cast<size_t>(id)]; }
  const Value& at(ValueId id) const { return values_[static_cast<size_t>(id)]; }
  bool is_constant(ValueId id) const;
  bool is_long_constant(ValueId id) const;

  // Planning.
  void count_uses();
  void count_captured(const FunctionNode& node);
  void find_whole_results(const Spec& spec, size_t* next);
  void name_values();
  bool wants_name(const FunctionNode& node);
  std::string hint(ValueId id, const std::string& otherwise) const;
  Spec structure(const FunctionNode& node) const;

  // Patterns and results.
  PatternPtr pattern(const Spec& spec, std::span<const ValueId> leaves, size_t* next,
                     const std::string& key);
  ExprPtr result(const Spec& spec, size_t* next);
  ExprPtr pick(const FunctionNode& node, size_t output);

  // Values and nodes, unparse_op.cc.
  ExprPtr value(ValueId id, Place place, bool lists = true);
  ExprPtr node_expr(const FunctionNode& node, bool lists);
  ExprPtr op_expr(const FunctionNode& node, bool lists);
  ExprPtr operator_expr(const FunctionNode& node);
  ExprPtr cast_expr(const FunctionNode& node);
  ExprPtr stack_expr(const FunctionNode& node);
  ExprPtr subscript_expr(const FunctionNode& node);
  ExprPtr lookup_expr(const FunctionNode& node);
  ExprPtr call_expr(const FunctionNode& node);
  ExprPtr structure_expr(const Spec& spec, const FunctionNode& node, size_t* next);
  ExprPtr conditional_expr(const FunctionNode& node);
  ExprPtr dataset_expr(const FunctionNode& node);
  std::vector<ExprPtr> environment_of(std::span<const ValueId> values);
  ExprPtr input(const FunctionNode& node, size_t i, bool lists = true);
  Place place_of(const FunctionNode& node, size_t i) const;
  bool is_default(const FunctionNode& node, size_t i, const Param& param) const;
  bool may_fail(ValueId id) const;

  const Function& function_;
  std::span<const ExprPtr> environment_;
  Names taken_;
  std::vector<Value> values_;
  std::map<const FunctionNode*, Spec>
      structures_;  // of nodes with several outputs, or in a structure
  std::map<size_t, const FunctionNode*>
      whole_;  // results that are all a node gives: index of the first
};

}  // namespace penstock::unparsing
