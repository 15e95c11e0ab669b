// on_error="raise", skip(max_count, max_rate=) or replace(value, max_count=, max_rate=) on any
// stage.
//
// A policy is a stage of its own right behind: what comes out of the stage and has failed, there or
// before, is its business.

#include "plan/elaborator.h"

namespace penstock {
namespace {

const std::vector<Param> kLimits{optional("max_count", Param::Kind::integer, {}),
                                 option("max_rate", Param::Kind::floating, {})};

}  // namespace

// As a dict of the arguments of the stage that `op` names; none for "raise".
Sym Elaborator::failure_policy(const Expr& expr, const NamesPtr& names) {
  const std::string rule = "on_error: expected \"raise\", skip(max_count) or replace(value)";
  if (expr.kind == Expr::Kind::text && expr.text == "raise") return {};
  const bool call = expr.kind == Expr::Kind::call && expr.operand->kind == Expr::Kind::name;
  const bool skips = call && expr.operand->text == "skip";
  if (!skips && !(call && expr.operand->text == "replace")) fail(expr.span, rule);
  std::vector<Argument> arguments;
  for (const Entry& e : expr.entries) {
    if (e.kind == Entry::Kind::spread) fail(e.span, rule);
    arguments.push_back({e.value->span, e.kind == Entry::Kind::keyed ? e.key : std::string(),
                         expression(*e.value, names)});
  }
  std::vector<Param> params = kLimits;
  if (!skips) params.insert(params.begin(), required("value", Param::Kind::structure));
  Sym out =
      Sym::dict({"op"}, {Sym::of(Tensor::of_bytes(skips ? "ignore_errors" : "replace_errors"))});
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
