// Literals, structures, operators, subscripts, conditionals.

#include <algorithm>
#include <cmath>

#include "plan/builtin_names.h"
#include "plan/elaborator.h"
#include "plan/habits.h"
#include "plan/spelling.h"

namespace penstock {
namespace {

// Part of a sparse or ragged tensor, by the name that tf has for it, and the op that returns it.
struct Part {
  LeafSpec::Kind of;
  std::string_view name, op;
};
constexpr Part kParts[] = {
    {LeafSpec::Kind::sparse, "indices", "sparse_indices"},
    {LeafSpec::Kind::sparse, "values", "flat_values"},
    {LeafSpec::Kind::sparse, "dense_shape", "sparse_shape"},
    {LeafSpec::Kind::sparse, "shape", "sparse_shape"},
    {LeafSpec::Kind::ragged, "flat_values", "flat_values"},
    {LeafSpec::Kind::ragged, "row_splits", "row_splits"},
};

std::string_view part_op(LeafSpec::Kind kind, std::string_view name) {
  for (const Part& part : kParts) {
    if (part.of == kind && part.name == name) return part.op;
  }
  return {};
}

}  // namespace

Sym Elaborator::literal(const Expr& expr) {
  Sym out;
  switch (expr.kind) {
    case Expr::Kind::integer:
      if (expr.integer_value > static_cast<uint64_t>(INT64_MAX))
        return Sym::of(Tensor::scalar(expr.integer_value), Weak::integer);
      return Sym::of(Tensor::scalar(static_cast<int64_t>(expr.integer_value)), Weak::integer);
    case Expr::Kind::quantity:
      // A number of bytes is an integer wherever it can be one.
      if (expr.text == "bytes" && expr.float_value < 0x1p63 &&
          expr.float_value == std::floor(expr.float_value))
        return Sym::of(Tensor::scalar(static_cast<int64_t>(expr.float_value)), Weak::integer);
      [[fallthrough]];
    case Expr::Kind::floating: return Sym::of(Tensor::scalar(expr.float_value), Weak::floating);
    case Expr::Kind::text:
    case Expr::Kind::bytes: return Sym::of(Tensor::of_bytes(expr.text));
    case Expr::Kind::boolean: return Sym::of(Tensor::scalar(expr.bool_value));
    case Expr::Kind::automatic: out.kind = Sym::Kind::automatic; return out;
    default: return out;
  }
}

Sym Elaborator::list(const Expr& expr, const NamesPtr& names) {
  Sym out;
  out.kind = Sym::Kind::list;
  for (const Entry& e : expr.entries) {
    Sym item = expression(*e.value, names);
    if (e.kind != Entry::Kind::spread) {
      out.items.push_back(std::move(item));
      continue;
    }
    if (item.kind != Sym::Kind::tuple && item.kind != Sym::Kind::list)
      fail(e.span, "** in a list takes a tuple or a list");
    out.items.insert(out.items.end(), item.items.begin(), item.items.end());
  }
  // Numbers become a tensor at once: literals stay literals.
  const bool constants = !out.items.empty() && std::ranges::all_of(out.items, [](const Sym& s) {
    return s.is_constant() && !s.tensor.object();
  });
  if (!constants) return out;
  const Tensor& first = out.items[0].tensor;
  const bool alike = std::ranges::all_of(out.items, [&](const Sym& s) {
    return s.tensor.dims() == first.dims() &&
           (s.tensor.dtype() == DType::bytes) == (first.dtype() == DType::bytes) &&
           (s.tensor.dtype() == DType::boolean) == (first.dtype() == DType::boolean);
  });
  return alike ? tensor(out, expr.span) : out;
}

Sym Elaborator::structure(const Expr& expr, const NamesPtr& names) {
  Sym out = expr.kind == Expr::Kind::dict ? Sym::dict({}, {}) : Sym::tuple({});
  auto put = [&](const std::string& key,
                 Sym value) {  // the later entry wins, at the earlier one's place
    const auto it = std::ranges::find(out.keys, key);
    if (it == out.keys.end()) {
      out.keys.push_back(key);
      out.items.push_back(std::move(value));
    } else {
      out.items[static_cast<size_t>(it - out.keys.begin())] = std::move(value);
    }
  };
  for (const Entry& e : expr.entries) {
    Sym item = expression(*e.value, names);
    if (e.kind == Entry::Kind::spread) {
      if (out.kind == Sym::Kind::dict) {
        if (item.kind != Sym::Kind::dict) fail(e.span, "** in a dict takes a dict");
        for (size_t i = 0; i < item.items.size(); ++i) put(item.keys[i], item.items[i]);
      } else {
        if (item.kind != Sym::Kind::tuple) fail(e.span, "** in a tuple takes a tuple");
        out.items.insert(out.items.end(), item.items.begin(), item.items.end());
      }
    } else if (out.kind == Sym::Kind::dict) {
      if (item.kind == Sym::Kind::value && !e.key.empty())
        item.scope->builder->name(item.id, e.key);
      put(e.key, std::move(item));
    } else {
      out.items.push_back(std::move(item));
    }
  }
  return out;
}

Sym Elaborator::unary(const Expr& expr, const NamesPtr& names) {
  const Sym x = tensor(expression(*expr.items[0], names), expr.items[0]->span);
  const std::string_view name = op_written(expr.text, Form::prefix);
  const bool negated = expr.text == "-";
  if (negated && x.is_constant() && x.weak == Weak::integer && x.tensor.dtype() == DType::uint64) {
    if (x.tensor.dims().rank() == 0 && x.tensor.entry<uint64_t>() == uint64_t{1} << 63) {
      return Sym::of(Tensor::scalar(INT64_MIN), Weak::integer);
    }
    fail(expr.span, "the number does not fit 64 bits");
  }
  return op(name, {x}, {}, expr.span, {expr.items[0]->span});
}

Sym Elaborator::binary(const Expr& expr, const NamesPtr& names) {
  // Left-deep chains of operators: a loop, not recursion.
  std::vector<const Expr*> chain;
  const Expr* at = &expr;
  for (; at->kind == Expr::Kind::binary && at->text != "and" && at->text != "or";
       at = at->items[0].get())
    chain.push_back(at);
  Sym left = expression(*at, names);
  Span left_span = at->span;
  for (size_t i = chain.size(); i-- > 0;) {
    const Expr& e = *chain[i];
    const Sym right = expression(*e.items[1], names);
    left = op(op_written(e.text, Form::binary),
              {tensor(left, left_span), tensor(right, e.items[1]->span)}, {}, e.span,
              {left_span, e.items[1]->span});
    left_span = e.span;
  }
  return left;
}

Sym Elaborator::short_circuit(const Expr& expr, const NamesPtr& names) {
  const bool is_and = expr.text == "and";
  const Sym left = tensor(expression(*expr.items[0], names), expr.items[0]->span);
  const LeafSpec t = type(left);
  if (t.dtype != DType::boolean) fail(expr.items[0]->span, "is " + t.text() + ", expected bool");
  auto right = [&] { return tensor(expression(*expr.items[1], names), expr.items[1]->span); };
  if (left.is_constant() && left.tensor.dims().rank() == 0) {
    return left.tensor.entry<bool>() == is_and ? right() : left;
  }
  if (t.shape.is_scalar()) {
    // Only a right side that may fail, or is a tensor, needs to be left out.
    auto other = [&] { return Sym::of(Tensor::scalar(!is_and)); };
    auto whole = [&] {
      const Sym r = right();
      if (type(r).dtype != DType::boolean)
        fail(expr.items[1]->span, "is " + type(r).text() + ", expected bool");
      return r;
    };
    // Tried in a scope of its own to see whether it can fail; seeds are drawn as if once.
    const uint64_t occurrence = occurrence_;
    Scope probe;
    probe.parent = scope_;
    probe.builder = std::make_unique<FunctionBuilder>(Spec());
    scopes_.push_back(std::make_unique<Scope>(std::move(probe)));
    Scope* const outer = std::exchange(scope_, scopes_.back().get());
    const Sym tried = whole();
    std::vector<ValueId> ids;
    const Spec spec = flatten(tried, expr.span, &ids);
    const FunctionPtr body = scope_->builder->finish(spec, ids);
    scope_ = outer;
    occurrence_ = occurrence;
    if (body->can_fail() && spec.leaf.shape.is_scalar()) {
      return is_and ? choose(left, whole, other, expr.span) : choose(left, other, whole, expr.span);
    }
  }
  return op(op_written(expr.text, Form::lazy), {left, right()}, {}, expr.span,
            {expr.items[0]->span, expr.items[1]->span});
}

Sym Elaborator::conditional(const Expr& expr, const NamesPtr& names) {
  const Sym condition = tensor(expression(*expr.items[0], names), expr.items[0]->span);
  const LeafSpec t = type(condition);
  if (t.dtype != DType::boolean || (t.shape.has_rank() && t.shape.rank() != 0)) {
    fail(expr.items[0]->span, "the condition of `if` is " + t.text() + ", expected a scalar bool");
  }
  return choose(
      condition, [&] { return expression(*expr.items[1], names); },
      [&] { return expression(*expr.items[2], names); }, expr.span);
}

namespace {

// A literal opposite a typed value takes its dtype.
void adopt(const Sym& a, Sym* b, const std::function<LeafSpec(const Sym&)>& type,
           const std::function<Sym(const Sym&, DType)>& coerce) {
  if (a.items.size() == b->items.size() && !a.items.empty()) {
    for (size_t i = 0; i < a.items.size(); ++i) adopt(a.items[i], &b->items[i], type, coerce);
  } else if (b->is_constant() && b->weak != Weak::no &&
             (a.is_constant() ? a.weak == Weak::no : a.kind == Sym::Kind::value)) {
    const DType dtype = type(a).dtype;
    if (is_float(dtype) || (is_integer(dtype) && b->weak == Weak::integer)) *b = coerce(*b, dtype);
  }
}

}  // namespace

Sym Elaborator::choose(const Sym& condition, const std::function<Sym()>& then_side,
                       const std::function<Sym()>& else_side, Span span) {
  if (condition.is_constant()) return condition.tensor.entry<bool>() ? then_side() : else_side();
  if (scope_ == &top_)
    fail(span, "the condition is known when the pipeline is opened: write the `if` in a function");
  Scope* const outer = scope_;
  std::vector<Scope*> sides;
  std::vector<Sym> values;
  for (const auto* side : {&then_side, &else_side}) {
    scopes_.push_back(std::make_unique<Scope>());
    Scope* s = scopes_.back().get();
    s->parent = outer;
    s->builder = std::make_unique<FunctionBuilder>(Spec());
    scope_ = s;
    sides.push_back(s);
    values.push_back((*side)());
  }
  for (int i = 0; i < 2; ++i) {
    scope_ = sides[static_cast<size_t>(i)];
    adopt(
        values[static_cast<size_t>(1 - i)], &values[static_cast<size_t>(i)],
        [this](const Sym& s) { return type(s); },
        [this, span](const Sym& s, DType d) { return coerce(s, d, span); });
  }
  std::vector<Spec> specs;
  std::vector<std::vector<ValueId>> ids(2);
  for (size_t i = 0; i < 2; ++i) {
    scope_ = sides[i];
    specs.push_back(flatten(values[i], span, &ids[i]));
  }
  scope_ = outer;
  bool ok = false;
  const Spec joined = join_specs(specs[0], specs[1], &ok);
  if (!ok) fail(span, "the sides of `if` differ: " + specs[0].text() + " and " + specs[1].text());
  const std::vector<LeafSpec> types = joined.leaves();
  const std::vector<LeafSpec> then_types = specs[0].leaves(), else_types = specs[1].leaves();
  for (size_t i = 0; i < types.size(); ++i) {
    if (types[i].is_tensor() && !types[i].shape.has_rank() && then_types[i].shape.has_rank() &&
        else_types[i].shape.has_rank()) {
      fail(span,
           "the sides of `if` differ in rank: " + specs[0].text() + " and " + specs[1].text());
    }
  }
  // Both bodies see the captured values of both.
  std::vector<ValueId> captured = sides[0]->environment;
  const auto shift = static_cast<int>(captured.size());
  captured.insert(captured.end(), sides[1]->environment.begin(), sides[1]->environment.end());
  const FunctionPtr then_body = sides[0]->builder->finish(specs[0], ids[0]);
  auto else_body = std::make_shared<Function>(*sides[1]->builder->finish(specs[1], ids[1]));
  for (int& source : else_body->capture_sources) source += shift;
  const ValueId c = value_in(condition, scope_);
  const std::vector<ValueId> outputs =
      scope_->builder->add_conditional(c, then_body, else_body, captured, types);
  size_t next = 0;
  return from_spec(joined, outputs, &next);
}

Sym Elaborator::field(const Expr& expr, const NamesPtr& names) {
  check_module(expr, names);
  const Sym x = expression(*expr.items[0], names);
  if (x.kind == Sym::Kind::value || x.is_constant()) {
    const LeafSpec t = type(x);
    if (const std::string_view part = part_op(t.kind, expr.text); !part.empty())
      return op(part, {x}, {}, expr.span, {expr.items[0]->span});
    const bool is_op = !member_call(expr.text).empty();  // which is what to write
    if (t.kind == LeafSpec::Kind::sparse && !is_op)
      fail(expr.span,
           "a sparse tensor has .indices, .values and .dense_shape, not `." + expr.text + "`");
    if (t.kind == LeafSpec::Kind::ragged && !is_op)
      fail(expr.span, "a ragged tensor has .flat_values and .row_splits, not `." + expr.text + "`");
  }
  if (x.kind != Sym::Kind::dict) fail_field(expr, x);
  const auto it = std::ranges::find(x.keys, expr.text);
  if (it == x.keys.end())
    fail(expr.span, "there is no field `" + expr.text + "`" + did_you_mean(expr.text, x.keys),
         Code::not_found);
  return x.items[static_cast<size_t>(it - x.keys.begin())];
}

// Refuses tf.strings.lower, where `tf` means nothing here: ops stand in no modules.
void Elaborator::check_module(const Expr& expr, const NamesPtr& names) {
  const std::vector<std::string> path = dotted_names(expr);
  if (path.size() < 2 || !is_foreign_module(path[0])) return;
  for (const Names* n = names.get(); n; n = n->outer.get())
    if (n->name == path[0]) return;
  const std::string call = member_call(path.back());
  fail(expr.span,
       "there are no modules: " +
           (call.empty() ? no_such_call(path.back(), false, {}) : "write " + call),
       Code::not_found);
}

// Methods of other languages are stages and ops here.
void Elaborator::fail_field(const Expr& expr, const Sym& of) {
  const std::string text = source_text(expr.items[0]->span);
  if (is_dataset(of)) {
    const std::string_view call = call_for(expr.text);
    const std::string stage = !call.empty() ? std::string(call) : expr.text + "(...)";
    const std::string shown = text.empty() || text.find('\n') != std::string::npos ? "..." : text;
    if (is_call(expr.text) || !call.empty())
      fail(expr.span, "a stage follows `|`: " + shown + " | " + stage);
    fail(expr.span, "`." + expr.text + "` needs a dict, this is a dataset");
  }
  const std::string call = member_call(expr.text);
  const std::string argument = text.empty() ? "x" : text;
  std::string hint;
  if (!call.empty() && of.kind != Sym::Kind::function)
    hint = is_call(expr.text) ? "; write " + expr.text + "(" + argument + ")" : "; write " + call;
  if (of.kind == Sym::Kind::tuple) hint = "; a tuple is indexed: " + argument + "[0]";
  fail(expr.span, "`." + expr.text + "` needs a dict" + hint);
}

// An argument that function_in took out of a tuple of one.
bool Elaborator::is_item_of_one_tuple(const Sym& x) {
  if (x.kind != Sym::Kind::value || !x.scope->builder) return false;
  const Spec& input = x.scope->builder->input();
  return input.kind == Spec::Kind::tuple && input.items.size() == 1 && x.id < input.leaf_count() &&
         type(x).is_tensor();
}

Sym Elaborator::subscript(const Expr& expr, const NamesPtr& names) {
  Sym x = expression(*expr.items[0], names);
  const bool plain = expr.subscripts.size() == 1;
  auto constant_int = [&](const ExprPtr& e) -> std::optional<int64_t> {
    if (!e) return std::nullopt;
    const Sym s = expression(*e, names);
    if (s.kind == Sym::Kind::none) return std::nullopt;
    return attribute(s, Param::Kind::integer, e->span, false).as_int();
  };
  if (x.kind == Sym::Kind::dict) {
    const Subscript& s = expr.subscripts[0];
    if (!plain || s.kind != Subscript::Kind::index)
      fail(expr.span, "a dict is indexed with the name of a field");
    const std::string key =
        attribute(expression(*s.index, names), Param::Kind::text, s.span, false).as_string();
    const auto it = std::ranges::find(x.keys, key);
    if (it == x.keys.end())
      fail(s.span, "there is no field `" + key + "`" + did_you_mean(key, x.keys), Code::not_found);
    return x.items[static_cast<size_t>(it - x.keys.begin())];
  }
  if (x.kind == Sym::Kind::tuple) {
    const auto n = static_cast<int64_t>(x.items.size());
    const Subscript& s = expr.subscripts[0];
    if (plain && s.kind == Subscript::Kind::index) {
      const auto i = constant_int(s.index);
      if (!i || *i < -n || *i >= n)
        fail(s.span, "the index of a tuple of " + std::to_string(n) + " is out of range");
      return x.items[static_cast<size_t>(*i < 0 ? *i + n : *i)];
    }
    if (plain && s.kind == Subscript::Kind::slice) {
      const int64_t step = constant_int(s.step).value_or(1);
      if (step == 0) fail(s.span, "the step of a slice must not be zero: 0");
      auto clamp = [n](int64_t v, int64_t low, int64_t high) {
        return std::clamp(v < 0 ? v + n : v, low, high);
      };
      const auto b = constant_int(s.begin), e = constant_int(s.end);
      const int64_t begin = b          ? clamp(*b, step > 0 ? 0 : -1, step > 0 ? n : n - 1)
                            : step > 0 ? 0
                                       : n - 1;
      const int64_t end = e          ? clamp(*e, step > 0 ? 0 : -1, step > 0 ? n : n - 1)
                          : step > 0 ? n
                                     : -1;
      std::vector<Sym> items;
      for (int64_t i = begin; step > 0 ? i < end : i > end; i += step)
        items.push_back(x.items[static_cast<size_t>(i)]);
      return Sym::tuple(std::move(items));
    }
    fail(expr.span, "a tuple is indexed and sliced with constants");
  }
  x = tensor(x, expr.items[0]->span);
  if (is_item_of_one_tuple(x) && type(x).shape.is_scalar()) {
    fail(expr.span, "is one " + type(x).text() +
                        " already: a function of one argument takes a tuple of one apart");
  }
  std::vector<Sym> inputs{x};
  std::vector<Span> spans{expr.items[0]->span};
  auto piece = [&](const ExprPtr& e) -> Attr {
    if (!e) return {};
    const Sym s = expression(*e, names);
    if (s.kind == Sym::Kind::none) return {};
    const Sym t = strong(tensor(s, e->span));
    if (t.is_constant() && t.tensor.dims().rank() == 0 && is_integer(t.tensor.dtype()))
      return Attr::integer(integer_at(t.tensor));
    inputs.push_back(t);
    spans.push_back(e->span);
    return Attr::text("dynamic");
  };
  std::vector<Attr> pieces;
  for (const Subscript& s : expr.subscripts) {
    if (s.kind == Subscript::Kind::ellipsis) {
      pieces.push_back(Attr::tuple({Attr::text("ellipsis")}));
    } else if (s.kind == Subscript::Kind::slice) {
      Attr begin = piece(s.begin), end = piece(s.end), step = piece(s.step);
      pieces.push_back(Attr::tuple({Attr::text("slice"), begin, end, step}));
    } else {
      const Attr index = piece(s.index);
      pieces.push_back(index.is_none() ? Attr::tuple({Attr::text("newaxis")})
                                       : Attr::tuple({Attr::text("index"), index}));
    }
  }
  // Of a ragged tensor the row first, and then the pieces of that: x[i, a:b] is x[i][a:b].
  auto next = pieces.begin();
  auto taken = inputs.begin() + 1;
  Sym out = x;
  while (next != pieces.end()) {
    const bool ragged = type(out).kind == LeafSpec::Kind::ragged;
    const bool row = ragged && next->items()[0].as_string() == "index";
    std::vector<Attr> some(next, row ? next + 1 : pieces.end());
    std::vector<Sym> of{out};
    std::vector<Span> at{spans[0]};
    const auto count =
        row ? std::ranges::count(next->items(), Attr::text("dynamic")) : inputs.end() - taken;
    of.insert(of.end(), taken, taken + count);
    at.insert(at.end(), spans.begin() + (taken - inputs.begin()),
              spans.begin() + (taken - inputs.begin()) + count);
    next += static_cast<std::ptrdiff_t>(some.size());
    taken += count;
    Attrs attrs;
    attrs.set("pieces", Attr::list(std::move(some)));
    out = op(ragged ? "ragged_subscript" : "subscript", std::move(of), std::move(attrs), expr.span,
             at);
  }
  return out;
}

}  // namespace penstock
