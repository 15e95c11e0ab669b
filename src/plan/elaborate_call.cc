// Calls: user's functions, ops, casts, and what exists only while a plan is built.

#include <algorithm>

#include "data/charged.h"
#include "plan/builtin_names.h"
#include "plan/elaborator.h"
#include "plan/spelling.h"

namespace penstock {
namespace {

// filter(x = 2) reads as an argument called x.
std::string no_such_argument(const std::string& key, const std::vector<Param>& params) {
  std::vector<std::string> known;
  for (const Param& p : params) known.push_back(p.name);
  const std::string hint = did_you_mean(key, known);
  const bool function =
      std::ranges::find(params, Param::Kind::function, &Param::kind) != params.end();
  return "there is no argument `" + key + "`" +
         (hint.empty() && function ? "; a function is written x -> x == 2" : hint);
}

}  // namespace

Sym Elaborator::call(const Expr& expr, const NamesPtr& names, const Sym* piped, Span piped_span) {
  const Expr& callee = *expr.operand;
  const OperatorDef* stage = callee.kind == Expr::Kind::name && !expr.own_op
                                 ? OperatorRegistry::instance().find(callee.text)
                                 : nullptr;
  std::vector<Argument> arguments;
  if (piped) arguments.push_back({piped_span, {}, *piped});
  for (const Entry& e : expr.entries) {
    if (e.kind == Entry::Kind::keyed && e.key == "on_error") {
      arguments.push_back({e.value->span, e.key, failure_policy(*e.value, names)});
      continue;
    }
    const bool outer =
        std::exchange(bare_function_, stage && e.kind == Entry::Kind::plain &&
                                          e.value->kind != Expr::Kind::lambda &&
                                          std::ranges::find(stage->params, Param::Kind::function,
                                                            &Param::kind) != stage->params.end());
    Sym value = expression(*e.value, names);
    bare_function_ = outer;
    if (e.kind == Entry::Kind::spread) {
      if (value.kind != Sym::Kind::tuple && value.kind != Sym::Kind::list)
        fail(e.span, "** in a call takes a tuple or a list");
      for (Sym& item : value.items) arguments.push_back({e.span, {}, std::move(item)});
    } else {
      arguments.push_back(
          {e.value->span, e.kind == Entry::Kind::keyed ? e.key : std::string(), std::move(value)});
    }
  }
  if (expr.own_op) return op_call(*expr.own_op, std::move(arguments), expr.span);
  if (callee.kind == Expr::Kind::name) {
    // Before a parenthesis a name means a function: names of values hide nothing.
    for (const NamesPtr* list : {&names, &static_cast<const NamesPtr&>(prelude_)}) {
      for (const Names* n = list->get(); n; n = n->outer.get()) {
        if (n->name == callee.text && n->sym.kind == Sym::Kind::function) {
          return closure_call(*n->sym.closure, std::move(arguments), expr.span);
        }
      }
    }
    if (!stage && !OpRegistry::instance().find(plain_op_name(callee.text)) &&
        !parse_dtype(callee.text)) {
      for (const Names* n = names.get(); n; n = n->outer.get()) {
        if (n->name == callee.text) fail(callee.span, "`" + callee.text + "` is not a function");
      }
    }
    return call_named(callee.text, std::move(arguments), callee.span.end ? callee.span : expr.span);
  }
  const Sym function = expression(callee, names);
  if (function.kind == Sym::Kind::dtype)
    return call_named(std::string(dtype_name(function.dtype)), std::move(arguments), expr.span);
  if (function.kind != Sym::Kind::function) fail(callee.span, "is not a function");
  return closure_call(*function.closure, std::move(arguments), expr.span);
}

Sym Elaborator::call_named(const std::string& name, std::vector<Argument> arguments, Span span) {
  if (const auto dtype = parse_dtype(name)) {
    if (arguments.size() != 1 || !arguments[0].key.empty())
      fail(span, name + " takes one argument");
    Sym x = tensor(arguments[0].sym, arguments[0].span);
    if (type(x).dtype == *dtype) return x.is_constant() ? Sym::of(x.tensor) : x;
    if (x.is_constant() && x.weak != Weak::no &&
        (*dtype == DType::boolean || is_float(*dtype) || x.weak == Weak::integer)) {
      if (*dtype != DType::boolean) return coerce(x, *dtype, arguments[0].span);
    }
    if (x.is_empty()) return coerce(x, *dtype, arguments[0].span);
    Attrs attrs;
    attrs.set("dtype", Attr::of(*dtype));
    return op("cast", {x}, std::move(attrs), span, {arguments[0].span});
  }
  Sym out;
  if (special_call(name, arguments, span, &out)) return out;
  const OperatorDef* stage = OperatorRegistry::instance().find(name);
  if (stage && stage->internal) stage = nullptr;
  const std::string op = plain_op_name(name);
  const OpDef* function = OpRegistry::instance().find(op);
  if (stage) {
    const bool on_dataset = std::ranges::any_of(arguments, [this](const Argument& a) {
      return is_dataset(a.sym) ||
             std::ranges::any_of(a.sym.items, [this](const Sym& s) { return is_dataset(s); });
    });
    if (stage->source || on_dataset || !function)
      return stage_call(*stage, std::move(arguments), span);
  }
  if (!function && !op_written(op, Form::of_others).empty()) {
    if (arguments.empty()) fail(span, op + ": the first argument is missing");
    const Sym x = tensor(arguments[0].sym, arguments[0].span);
    const Form form = type(x).dtype == DType::bytes ? Form::of_strings : Form::of_others;
    function = OpRegistry::instance().find(op_written(op, form));
  }
  if (const OpDef* ragged = ragged_form(op, arguments)) function = ragged;
  if (function) return op_call(*function, std::move(arguments), span);
  std::vector<std::string> known;
  for (const Names* n = prelude_.get(); n; n = n->outer.get()) known.push_back(n->name);
  const bool on_dataset = !arguments.empty() && is_dataset(arguments[0].sym);
  fail(span, no_such_call(name, on_dataset, known), Code::not_found);
}

// The op for ragged or sparse arguments (lists of them included), where it is another one for them.
const OpDef* Elaborator::ragged_form(const std::string& name,
                                     const std::vector<Argument>& arguments) const {
  const std::function<bool(const Sym&, LeafSpec::Kind)> holds = [&](const Sym& sym,
                                                                    LeafSpec::Kind kind) {
    if (sym.kind == Sym::Kind::value || sym.is_constant()) return type(sym).kind == kind;
    return (sym.kind == Sym::Kind::list || sym.kind == Sym::Kind::tuple) &&
           std::ranges::any_of(sym.items, [&](const Sym& item) { return holds(item, kind); });
  };
  for (const auto& [kind, prefix] : {std::pair(LeafSpec::Kind::ragged, "ragged_"),
                                     std::pair(LeafSpec::Kind::sparse, "sparse_")}) {
    if (std::ranges::any_of(arguments, [&](const Argument& a) { return holds(a.sym, kind); })) {
      if (const OpDef* op = OpRegistry::instance().find(prefix + name)) return op;
    }
  }
  return nullptr;
}

std::vector<const Argument*> Elaborator::match(const std::string& what,
                                               const std::vector<Param>& params,
                                               const std::vector<Argument>& arguments, Span span,
                                               std::vector<const Argument*>* rest) {
  const std::string prefix = what.empty() ? "" : what + ": ";
  std::vector<const Argument*> out(params.size(), nullptr);
  size_t next = 0;
  for (const Argument& a : arguments) {
    if (!a.key.empty()) {
      const auto it = std::ranges::find(params, a.key, &Param::name);
      if (it == params.end()) fail(a.span, prefix + no_such_argument(a.key, params));
      const auto i = static_cast<size_t>(it - params.begin());
      if (out[i]) fail(a.span, prefix + "argument `" + a.key + "` is given twice");
      out[i] = &a;
      continue;
    }
    while (next < params.size() &&
           (params[next].by_name_only || (out[next] && !(rest && out[next] == nullptr))))
      ++next;
    // Where another positional parameter follows, a list is all there is.
    const bool list_is_all = a.sym.kind == Sym::Kind::list && next + 1 < params.size() &&
                             !params[next + 1].by_name_only && rest && rest->empty();
    const bool many =
        rest && next < params.size() && !list_is_all &&
        (params[next].kind == Param::Kind::tensors || params[next].kind == Param::Kind::datasets);
    if (many) {
      rest->push_back(&a);
      continue;
    }
    if (next >= params.size()) {
      const auto takes =
          std::ranges::count_if(params, [](const Param& p) { return !p.by_name_only; });
      fail(a.span, prefix + "takes at most " + std::to_string(takes) + " positional argument" +
                       (takes == 1 ? "" : "s"));
    }
    out[next++] = &a;
  }
  for (size_t i = 0; i < params.size(); ++i) {
    const bool filled =
        out[i] ||
        (rest && !rest->empty() &&
         (params[i].kind == Param::Kind::tensors || params[i].kind == Param::Kind::datasets));
    if (params[i].required && !filled)
      fail(span, prefix + "argument `" + params[i].name + "` is missing");
  }
  return out;
}

Sym Elaborator::op_call(const OpDef& def, std::vector<Argument> arguments, Span span) {
  std::vector<const Argument*> rest;
  const std::vector<const Argument*> found =
      match(written_name(def, span), def.params, arguments, span, &rest);
  if (std::ranges::find(def.params, Param::Kind::function, &Param::kind) != def.params.end())
    return control_call(def, found, span);
  std::vector<Sym> inputs;
  std::vector<Span> spans;
  Attrs attrs;
  for (size_t i = 0; i < def.params.size(); ++i) {
    const Param& p = def.params[i];
    const Argument* a = found[i];
    if (p.kind == Param::Kind::tensors) {
      std::vector<Sym> items;
      if (a) rest.insert(rest.begin(), a);
      for (const Argument* r : rest) items.push_back(r->sym);
      if (rest.size() == 1 &&
          (items[0].kind == Sym::Kind::list || items[0].kind == Sym::Kind::tuple)) {
        items = std::vector<Sym>(items[0].items);
      } else if (rest.size() == 1 && items[0].is_constant() && !items[0].tensor.object() &&
                 items[0].tensor.dims().rank() > 0) {
        const Sym whole = items[0];  // a list of literals became a tensor already: its items
        items.clear();
        for (int64_t k = 0; k < whole.tensor.dims()[0]; ++k)
          items.push_back(Sym::of(whole.tensor.item(k), whole.weak));
      }
      for (size_t k = 0; k < items.size(); ++k) {
        const Span at = rest[rest.size() == items.size() ? k : 0]->span;
        inputs.push_back(tensor(items[k], at));
        spans.push_back(at);
      }
    } else if (p.kind == Param::Kind::tensor) {
      if (a && !(a->sym.kind == Sym::Kind::none && p.accepts_none)) {
        inputs.push_back(tensor(a->sym, a->span));
        spans.push_back(a->span);
      } else if (!p.fallback.is_none()) {
        const Tensor& t = p.fallback.tensor();
        const Weak weak = is_integer(t.dtype()) ? Weak::integer
                          : is_float(t.dtype()) ? Weak::floating
                                                : Weak::no;
        inputs.push_back(Sym::of(t, weak));
        spans.push_back(span);
      }
    } else if (p.name == "seed" && !(a && a->sym.kind != Sym::Kind::none)) {
      attrs.set(p.name, Attr::integer(static_cast<int64_t>(next_seed())));
    } else if (a) {
      attrs.set(p.name, attribute(a->sym, p.kind, a->span, p.accepts_none));
    } else {
      attrs.set(p.name, p.fallback);
    }
  }
  return op(def, std::move(inputs), std::move(attrs), span, spans);
}

Spec Elaborator::add_node(const OpDef& def, std::vector<ValueId> inputs, Attrs attrs,
                          std::vector<FunctionPtr> bodies, Span span,
                          const std::vector<Span>& spans, std::vector<ValueId>* outputs) {
  try {
    return scope_->builder->add_op(def, std::move(inputs), std::move(attrs), outputs,
                                   std::move(bodies));
  } catch (const TypeError& e) {
    Span where = span;
    std::string subject;
    if (e.input >= 0 && static_cast<size_t>(e.input) < spans.size()) {
      where = spans[static_cast<size_t>(e.input)];
      if (const std::string text = source_text(where); !text.empty()) subject = "`" + text + "` ";
    } else if (!e.attr.empty()) {
      subject = e.attr + " ";
    }
    fail(where, written_name(def, span) + ": " + subject + e.message);
  }
}

// The span of a call is that of the name.
std::string Elaborator::written_name(const OpDef& def, Span span) {
  return std::string(name_in_text(def.name, source_text(span)));
}

// A value of the top that was not computed: it waits for a file, or it is large, or it fails.
void Elaborator::check_evaluates(const OpDef& def, ValueId id, Span span) const {
  const FunctionNode& node = *top_.builder->producer(id);
  constexpr int64_t kMostTried = 64 << 20;
  if (def.known_at_open) return;
  std::vector<Tensor> inputs, made(node.outputs.size());
  for (const ValueId input : node.inputs) {
    const Tensor* value = top_.builder->constant(input);
    if (!value) return;
    inputs.push_back(*value);
  }
  std::vector<OutputSlot> slots;
  for (size_t i = 0; i < node.outputs.size(); ++i)
    slots.emplace_back(top_.builder->type(node.outputs[i]).dtype, &made[i]);
  const ScopedLimit limit(kMostTried);
  try {
    const std::shared_ptr<const void> state = def.prepare ? def.prepare(node.attrs) : nullptr;
    def.row({node.attrs, state.get(), inputs, slots, {}});
  } catch (const Error& e) {
    if (limit.exceeded()) return;  // perhaps a run has room for it
    const bool named = e.message().starts_with(def.name + ":");
    fail(span, (named ? "" : written_name(def, span) + ": ") + e.message(), e.code());
  } catch (const std::exception&) {
    fail(span, written_name(def, span) + ": " + current_error()->message(),
         current_error()->code());
  }
}

// The sizes of an array that is known when the pipeline is opened (load_array) are constants, which
// other arguments may be made of.
std::optional<Tensor> Elaborator::known_sizes(const OpDef& def, const std::vector<Sym>& inputs) {
  if (!def.of_shape || inputs.size() != 1 || inputs[0].kind != Sym::Kind::value ||
      inputs[0].scope != &top_)
    return {};
  const LeafSpec t = type(inputs[0]);
  if (!t.is_tensor() || !t.shape.is_static()) return {};
  return def.of_shape(t.shape);
}

Sym Elaborator::op(std::string_view name, std::vector<Sym> inputs, Attrs attrs, Span span,
                   const std::vector<Span>& spans) {
  const OpDef* def = OpRegistry::instance().find(name);
  PENSTOCK_CHECK(def != nullptr);
  return op(*def, std::move(inputs), std::move(attrs), span, spans);
}

Sym Elaborator::op(const OpDef& def, std::vector<Sym> inputs, Attrs attrs, Span span,
                   const std::vector<Span>& spans) {
  if (std::optional<Tensor> sizes = known_sizes(def, inputs)) return Sym::of(*std::move(sizes));
  bool weak = !inputs.empty() && def.effects == Effects::pure;
  for (const Sym& s : inputs) weak &= s.is_constant() && s.weak != Weak::no;
  size_t first = 0;
  const bool unifies = unifies_literals(def, inputs.size(), &first);
  const bool literal_math = weak && unifies;
  const bool states_dtype = attrs.find("dtype") != nullptr;
  if (unifies) {
    const auto from = static_cast<std::ptrdiff_t>(first);
    std::vector<Sym> sides(inputs.begin() + from, inputs.end());
    unify(&sides, spans.size() == inputs.size()
                      ? std::vector<Span>(spans.begin() + from, spans.end())
                      : std::vector<Span>{});
    std::ranges::move(sides, inputs.begin() + from);
  }
  if (literal_math) {
    std::vector<Tensor> literals;
    for (const Sym& s : inputs) literals.push_back(s.tensor);
    const bool real = def.real_literals && def.real_literals(literals);
    for (size_t i = 0; i < inputs.size() && real; ++i) {
      if (inputs[i].weak == Weak::integer) {
        inputs[i] = coerce(Sym::of(inputs[i].tensor), DType::float64, span);
        inputs[i].weak = Weak::floating;
      }
    }
  } else {
    const auto as_first = static_cast<size_t>(def.literal_as_first);
    if (as_first < inputs.size() && inputs[as_first].weak != Weak::no)
      inputs[as_first] = coerce(inputs[as_first], type(inputs[0]).dtype, span);
    for (Sym& s : inputs) s = strong(s);
  }
  std::vector<ValueId> ids, outputs;
  for (const Sym& s : inputs) {
    // A literal keeps its 64 bits through arithmetic with others.
    ids.push_back(s.is_constant() && literal_math ? scope_->builder->add_constant(s.tensor)
                                                  : value_in(s, scope_));
  }
  const Spec result = add_node(def, std::move(ids), std::move(attrs), {}, span, spans, &outputs);
  size_t next = 0;
  Sym out = from_spec(result, outputs, &next);
  if (scope_ == &top_ && !out.is_constant()) {
    bool all = true;
    const std::function<void(const Sym&)> check = [&](const Sym& s) {
      all &= s.kind != Sym::Kind::value;
      for (const Sym& item : s.items) check(item);
    };
    check(out);
    if (!all && def.effects != Effects::pure)
      fail(span, def.name + " draws for each row: call it in a function");
    if (!all) check_evaluates(def, outputs[0], span);
  }
  if (literal_math && !states_dtype && out.is_constant()) {
    if (out.tensor.dtype() == DType::int64) out.weak = Weak::integer;
    if (out.tensor.dtype() == DType::float64) out.weak = Weak::floating;
  }
  return out;
}

}  // namespace penstock
