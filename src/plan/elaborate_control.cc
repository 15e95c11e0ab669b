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

}  // namespace

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
  for (size_t i = 0; i < def.params.size(); ++i) {
    const Param& p = def.params[i];
    if (p.kind == Param::Kind::structure) {
      structures.push_back(flatten(found[i]->sym, found[i]->span, &inputs));
    } else if (p.kind == Param::Kind::function) {
      functions.push_back(found[i]);
    } else {
      attrs.set(p.name, found[i] ? attribute(found[i]->sym, p.kind, found[i]->span, p.accepts_none)
                                 : p.fallback);
    }
  }
  const bool has_items = def.loop.items, has_state = def.loop.state;
  Spec item, state = structures.back();
  try {
    if (has_items) item = item_spec(structures[0]);
  } catch (const std::string& what) {
    fail(found[0]->span, def.name + ": x " + what);
  }
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
