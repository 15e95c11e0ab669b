// Loops, as while_loop and map_fn: ops whose bodies see the values of the function around them.

#include <algorithm>

#include "functions/kernels/control/control.h"
#include "plan/elaborator.h"

namespace penstock {
namespace {

bool keeps_ranks(const Spec& before, const Spec& after) {
  const std::vector<LeafSpec> a = before.leaves(), b = after.leaves();
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i].shape.has_rank() && !b[i].shape.has_rank()) return false;
  }
  return true;
}

bool holds_literal(const Sym& sym) {
  return (sym.is_constant() && sym.weak != Weak::no) ||
         std::ranges::any_of(sym.items, holds_literal);
}

// Calls f(literal of `state`, what stands in its stead in `given`).
template <typename F>
void for_literals(Sym* state, const Sym& given, const F& f) {
  const bool is_leaf = state->items.empty();
  if (is_leaf && state->is_constant() && state->weak != Weak::no && given.is_tensor_like())
    f(state, given);
  if (is_leaf || state->kind != given.kind || state->items.size() != given.items.size()) return;
  for (size_t i = 0; i < state->items.size(); ++i)
    for_literals(&state->items[i], given.items[i], f);
}

}  // namespace

// A literal has no dtype until it meets one: `reduce(x, 0, (s, v) -> s + v)` starts with a float if
// x holds floats. One round over the literals themselves, in a scope that is dropped, tells.
Sym Elaborator::first_state(const OpDef& def, const Sym& init, const Sym& f, const Spec& item,
                            Span span) {
  if (f.kind != Sym::Kind::function || !holds_literal(init)) return init;
  const uint64_t occurrence = occurrence_;
  Scope* const outer = scope_;
  scopes_.push_back(std::make_unique<Scope>());
  scope_ = scopes_.back().get();
  scope_->parent = outer;
  scope_->builder = std::make_unique<FunctionBuilder>(item);
  Sym state = init;
  std::vector<std::pair<Sym*, DType>> met;
  try {
    std::vector<ValueId> ids;
    for (int i = 0; i < item.leaf_count(); ++i) ids.push_back(i);
    size_t next = 0;
    const Sym argument =
        def.loop.items ? Sym::tuple({init, from_spec(item, ids, &next)}) : Sym(init);
    const Sym given = closure_call(*f.closure, {{span, {}, argument}}, span);
    const bool pair = def.loop.pairs && given.kind == Sym::Kind::tuple && !given.items.empty();
    for_literals(&state, pair ? given.items[0] : given, [&](Sym* literal, const Sym& value) {
      const Sym whole = strong(tensor(value, span));
      const DType dtype = type(whole).dtype;
      if (is_float(dtype) || (is_integer(dtype) && literal->weak == Weak::integer))
        met.emplace_back(literal, dtype);
    });
  } catch (const PipeError&) {
    met.clear();  // said again, and better, where the loop is built
  }
  scope_ = outer;
  occurrence_ = occurrence;
  for (const auto& [literal, dtype] : met) *literal = coerce(*literal, dtype, span);
  return state;
}

FunctionPtr Elaborator::body(const Sym& closure, const Spec& input, Span span,
                             std::vector<ValueId>* captured) {
  Scope* made = nullptr;
  FunctionPtr out = function_in(scope_, closure, input, span, &made, false);
  *captured = made->environment;
  return out;
}

Sym Elaborator::control_call(const OpDef& def, const std::vector<const Argument*>& found,
                             Span span) {
  std::vector<ValueId> inputs;
  std::vector<Spec> structures;
  std::vector<const Argument*> functions;
  Attrs attrs;
  const bool has_items = def.loop.items, has_state = def.loop.state;
  Spec item;
  for (size_t i = 0; i < def.params.size(); ++i) {
    const Param& p = def.params[i];
    if (p.kind == Param::Kind::structure) {
      const bool is_state = has_state && structures.size() == (has_items ? 1 : 0);
      const Sym& f = found[i + (has_items ? 1 : 2)]->sym;  // the body
      structures.push_back(
          flatten(is_state ? first_state(def, found[i]->sym, f, item, span) : found[i]->sym,
                  found[i]->span, &inputs));
      if (is_state || !has_items) continue;
      try {
        item = item_spec(structures[0]);
      } catch (const std::string& what) {
        fail(found[0]->span, def.name + ": x " + what);
      }
    } else if (p.kind == Param::Kind::function) {
      functions.push_back(found[i]);
    } else {
      attrs.set(p.name, found[i] ? attribute(found[i]->sym, p.kind, found[i]->span, p.accepts_none)
                                 : p.fallback);
    }
  }
  Spec state = structures.back();
  // A state goes round: its shape is widened until what comes out fits what goes in.
  std::vector<FunctionPtr> bodies;
  std::vector<std::vector<ValueId>> captured;
  for (int round = 0;; ++round) {
    const uint64_t occurrence = occurrence_;
    const Spec input = !has_state ? item : has_items ? Spec::tuple({state, item}) : state;
    bodies.clear();
    captured.assign(functions.size(), {});
    for (size_t i = 0; i < functions.size(); ++i)
      bodies.push_back(body(functions[i]->sym, input, functions[i]->span, &captured[i]));
    if (!has_state) break;
    const Spec& output = bodies.back()->output;
    const bool pair = output.kind == Spec::Kind::tuple && output.items.size() == 2;
    if (def.loop.pairs && !pair) break;  // the op says what is wrong
    const Spec& given = def.loop.pairs ? output.items[0] : output;
    bool ok = false;
    const Spec joined = join_specs(state, given, &ok);
    if (!ok || !keeps_ranks(state, joined)) {
      fail(functions.back()->span,
           def.name + ": the state is " + state.text() + ", the function gives " + given.text());
    }
    if (joined == state) break;
    if (round == 8)
      fail(span, def.name + ": the shape of the state does not settle: " + joined.text());
    state = joined;
    occurrence_ = occurrence;
  }
  for (size_t i = 0; i < bodies.size(); ++i) {
    auto moved = std::make_shared<Function>(*bodies[i]);
    for (int& source : moved->capture_sources) source += static_cast<int>(inputs.size());
    bodies[i] = std::move(moved);
    inputs.insert(inputs.end(), captured[i].begin(), captured[i].end());
  }
  std::vector<ValueId> outputs;
  const Spec result =
      add_node(def, std::move(inputs), std::move(attrs), std::move(bodies), span, {}, &outputs);
  if (scope_ == &top_) fail(span, def.name + " works on rows: call it in a function");
  size_t next = 0;
  return from_spec(result, outputs, &next);
}

}  // namespace penstock
