// on_error="raise", skip(max_count, max_rate=) or replace(value, max_count=, max_rate=) on any
// stage.
//
// A policy is a stage of its own right behind: what comes out of the stage and has failed, there or
// before, is its business.

#include <algorithm>

#include "plan/elaborator.h"

namespace penstock {
namespace {

// A word after `on_error=` and the stage that it stands for.
struct Policy {
  std::string_view word, op;
  bool takes_value;
};
constexpr Policy kPolicies[] = {
    {"skip", "ignore_errors", false},
    {"replace", "replace_errors", true},
};

const std::vector<Param> kLimits{optional("max_count", Param::Kind::integer, {}),
                                 option("max_rate", Param::Kind::floating, {})};

}  // namespace

// As a dict of the arguments of the stage that `op` names; none for "raise".
Sym Elaborator::failure_policy(const Expr& expr, const NamesPtr& names) {
  const std::string rule = "on_error: expected \"raise\", skip(max_count) or replace(value)";
  if (expr.kind == Expr::Kind::text && expr.text == "raise") return {};
  const bool call = expr.kind == Expr::Kind::call && expr.operand->kind == Expr::Kind::name;
  const auto* policy =
      call ? std::ranges::find(kPolicies, expr.operand->text, &Policy::word) : std::end(kPolicies);
  if (policy == std::end(kPolicies)) fail(expr.span, rule);
  std::vector<Argument> arguments;
  for (const Entry& e : expr.entries) {
    if (e.kind == Entry::Kind::spread) fail(e.span, rule);
    arguments.push_back({e.value->span, e.kind == Entry::Kind::keyed ? e.key : std::string(),
                         expression(*e.value, names)});
  }
  std::vector<Param> params = kLimits;
  if (policy->takes_value) params.insert(params.begin(), required("value", Param::Kind::structure));
  Sym out = Sym::dict({"op"}, {Sym::of(Tensor::of_bytes(policy->op))});
  const std::vector<const Argument*> found =
      match("on_error: " + expr.operand->text, params, arguments, expr.span, nullptr);
  for (size_t i = 0; i < params.size(); ++i) {
    if (!found[i]) continue;
    out.keys.push_back(params[i].name);
    out.items.push_back(found[i]->sym);
  }
  return out;
}

Sym Elaborator::with_failure_policy(Sym stage, const Argument& policy) {
  if (policy.sym.kind == Sym::Kind::none) return stage;
  if (stage.plan->op->sink) fail(policy.span, "on_error: a value has no elements to leave out");
  std::vector<Argument> arguments{{policy.span, {}, std::move(stage)}};
  for (size_t i = 1; i < policy.sym.keys.size(); ++i)
    arguments.push_back({policy.span, policy.sym.keys[i], policy.sym.items[i]});
  const OperatorDef* op = OperatorRegistry::instance().find(bytes_at(policy.sym.items[0].tensor));
  PENSTOCK_CHECK(op != nullptr);
  return stage_call(*op, std::move(arguments), policy.span);
}

}  // namespace penstock
