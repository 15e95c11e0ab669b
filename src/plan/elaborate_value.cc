// Symbols to tensors, attributes and structures.

#include <algorithm>
#include <cmath>

#include "data/leaf_of.h"
#include "functions/kernels/math/promotion.h"
#include "plan/builtin_names.h"
#include "plan/elaborator.h"
#include "plan/format.h"
#include "plan/lexer.h"

namespace penstock {

LeafSpec Elaborator::type(const Sym& sym) const {
  if (sym.kind == Sym::Kind::value) return sym.scope->builder->type(sym.id);
  PENSTOCK_CHECK(sym.is_constant());
  return leaf_of(sym.tensor);
}

int Elaborator::capture(const Sym& sym, Scope* pipelines) {
  const ValueId id = value_in(sym, pipelines->parent);
  auto& env = pipelines->environment;
  const auto it = std::ranges::find(env, id);
  if (it != env.end()) return static_cast<int>(it - env.begin());
  env.push_back(id);
  return static_cast<int>(env.size()) - 1;
}

ValueId Elaborator::value_in(const Sym& sym, Scope* scope) {
  if (sym.is_constant()) return scope->builder->add_constant(strong(sym).tensor);
  if (sym.scope == scope) return sym.id;
  if (sym.scope == &top_) return repeated_in(sym.id, scope);
  PENSTOCK_CHECK(scope->parent != nullptr);
  const LeafSpec t = type(sym);
  const std::string name = sym.scope->builder->name(sym.id);
  if (scope->parent->is_template)
    return scope->builder->add_capture(t, capture(sym, scope->parent), name);
  const ValueId outer = value_in(sym, scope->parent);  // the body of a conditional
  const auto it = std::ranges::find(scope->environment, outer);
  const auto index = static_cast<int>(it - scope->environment.begin());
  if (it == scope->environment.end()) scope->environment.push_back(outer);
  return scope->builder->add_capture(t, index, name);
}

// Values of the top are known when the pipeline is opened: each function that uses one has the
// nodes that make it.
ValueId Elaborator::repeated_in(ValueId id, Scope* scope) {
  if (const Tensor* constant = top_.builder->constant(id))
    return scope->builder->add_constant(*constant);
  const FunctionNode node = *top_.builder->producer(id);
  std::vector<ValueId> inputs, outputs;
  for (const ValueId input : node.inputs) inputs.push_back(repeated_in(input, scope));
  scope->builder->add_op(*node.op, std::move(inputs), node.attrs, &outputs, node.bodies);
  const auto at = std::ranges::find(node.outputs, id) - node.outputs.begin();
  const ValueId out = outputs[static_cast<size_t>(at)];
  scope->builder->name(out, top_.builder->name(id));
  return out;
}

Sym Elaborator::value(ValueId id) {
  if (const Tensor* constant = scope_->builder->constant(id)) return Sym::of(*constant);
  Sym out;
  out.kind = Sym::Kind::value;
  out.scope = scope_;
  out.id = id;
  return out;
}

Sym Elaborator::from_spec(const Spec& spec, const std::vector<ValueId>& ids, size_t* next) {
  switch (spec.kind) {
    case Spec::Kind::none: return Sym();
    case Spec::Kind::leaf: return value(ids[(*next)++]);
    default: break;
  }
  std::vector<Sym> items;
  for (const Spec& item : spec.items) items.push_back(from_spec(item, ids, next));
  return spec.kind == Spec::Kind::tuple ? Sym::tuple(std::move(items))
                                        : Sym::dict(spec.keys, std::move(items));
}

Sym Elaborator::strong(const Sym& sym) {
  if (!sym.is_constant() || sym.weak == Weak::no) return sym;
  if (sym.weak == Weak::integer) return Sym::of(sym.tensor);
  return coerce(sym, DType::float32, {});
}

Sym Elaborator::coerce(const Sym& sym, DType dtype, Span span) {
  const LeafSpec from = type(sym);
  if (from.dtype == dtype) return sym.is_constant() ? Sym::of(sym.tensor) : sym;
  if (sym.is_empty()) return Sym::of(Tensor::make(dtype, sym.tensor.dims()));
  if (sym.is_constant() && sym.weak != Weak::no) {
    if (dtype == DType::bytes || dtype == DType::boolean ||
        (sym.weak == Weak::floating && !is_float(dtype))) {
      fail(span, "a number is given where " + std::string(dtype_name(dtype)) + " is expected");
    }
    if (is_integer(dtype)) {
      for (int64_t i = 0; i < sym.tensor.entries_count(); ++i) {
        const int64_t v = integer_at(sym.tensor, i);
        const int64_t bits = dtype_size(dtype) * 8;
        const bool negative_unsigned =
            !is_signed(dtype) && v < 0 && sym.tensor.dtype() != DType::uint64;
        const bool too_large = bits < 64 && (is_signed(dtype) ? v < -(int64_t{1} << (bits - 1)) ||
                                                                    v >= (int64_t{1} << (bits - 1))
                                                              : v >= (int64_t{1} << bits));
        if (negative_unsigned || too_large)
          fail(span, std::to_string(v) + " does not fit " + std::string(dtype_name(dtype)));
      }
    }
  }
  Attrs attrs;
  attrs.set("dtype", Attr::of(dtype));
  return op("cast", {sym}, std::move(attrs), span);
}

void Elaborator::unify(std::vector<Sym>* syms, const std::vector<Span>& spans) {
  std::optional<DType> target;
  bool weak_integer = false, weak_float = false;
  for (const Sym& s : *syms) {
    if (s.is_constant() && (s.weak != Weak::no || s.is_empty())) {
      weak_integer |= s.weak == Weak::integer;
      weak_float |= s.weak == Weak::floating;
      continue;
    }
    const DType dtype = type(s).dtype;
    if (!target) {
      target = dtype;
    } else if (const auto wider = promote(*target, dtype)) {
      target = *wider;
    } else {
      return;  // the op says what is wrong
    }
  }
  // What is empty takes the dtype of others; of its own it has one for literals.
  for (const Sym& s : *syms) {
    if (target || !s.is_empty() || s.weak != Weak::no) continue;
    if (is_number(s.tensor.dtype())) target = s.tensor.dtype();
  }
  if (!target) {  // literals among themselves: as 64 bits wide
    if (!weak_float) return;
    for (size_t i = 0; i < syms->size(); ++i) {
      if ((*syms)[i].weak == Weak::integer) {
        Sym wide = coerce(Sym::of((*syms)[i].tensor), DType::float64,
                          i < spans.size() ? spans[i] : Span{});
        wide.weak = Weak::floating;
        (*syms)[i] = wide;
      }
    }
    return;
  }
  if (weak_float && is_integer(*target)) target = DType::float32;
  const bool changes = weak_float || weak_integer;
  for (size_t i = 0; i < syms->size(); ++i) {
    Sym& s = (*syms)[i];
    const bool literal = s.is_constant() && (s.weak != Weak::no || s.is_empty());
    const bool widened =
        changes && is_number(*target) && is_integer(type(s).dtype) && is_float(*target);
    if (literal || widened) s = coerce(s, *target, i < spans.size() ? spans[i] : Span{});
  }
}

// Says who is no tensor, and how its parts are had.
void Elaborator::fail_tensor(const Sym& sym, Span span) const {
  static const char* const kNames[] = {"none",    "auto",   "a dtype", "",           "",
                                       "a tuple", "a dict", "a list",  "a function", "a dataset"};
  const std::string text = source_text(span);
  const bool op = OpRegistry::instance().find(plain_op_name(text)) != nullptr;
  const bool plain = is_name(text) && !op;
  const std::string who = op || text.empty() ? "the element" : "`" + text + "`";
  std::string what = is_dataset(sym) ? "a dataset" : kNames[static_cast<size_t>(sym.kind)], hint;
  if (sym.kind == Sym::Kind::tuple) {
    what += " of " + std::to_string(sym.items.size());
    std::string pattern;
    for (size_t i = 0; i < sym.items.size() && i < 4; ++i)
      pattern += (i == 0 ? "" : ", ") + (i == 3 ? "..." : std::string(1, "abc"[i]));
    if (sym.items.size() == 1) pattern += ",";
    if (!sym.items.empty()) {
      hint = "; take it apart: (" + pattern + ") -> ...";
      if (plain) hint += ", or index it: " + text + "[0]";
    }
  } else if (sym.kind == Sym::Kind::dict && !sym.keys.empty()) {
    std::string names;
    constexpr size_t kMost = 3;
    for (size_t i = 0; i < sym.keys.size() && i < kMost; ++i) {
      const bool bare = is_name(sym.keys[i]) && !is_reserved(sym.keys[i]);
      names += (i == 0 ? "" : ", ") +
               (bare ? sym.keys[i] : "\"" + sym.keys[i] + "\": " + std::string(1, "abc"[i]));
    }
    if (sym.keys.size() > kMost) names += ", **rest";
    what += " of " + std::to_string(sym.keys.size());
    hint = "; take it apart: {" + names + "} -> ...";
    if (plain && is_name(sym.keys[0])) hint += ", or name a field: " + text + "." + sym.keys[0];
  } else if (is_dataset(sym)) {
    hint = "; get_single_element and reduce make values of datasets, flat_map gives their elements";
  } else if (sym.kind == Sym::Kind::function && plain) {
    hint = "; call it: " + text + "(...)";
  }
  fail(span, who + " is " + what + ", expected a tensor" + hint);
}

Sym Elaborator::tensor(const Sym& sym, Span span) {
  if (sym.kind == Sym::Kind::constant) return sym;
  if (sym.kind == Sym::Kind::value) {
    if (is_dataset(sym)) fail_tensor(sym, span);
    return sym;
  }
  if (sym.kind != Sym::Kind::list) fail_tensor(sym, span);
  if (sym.items.empty()) return Sym::of(Tensor::make(DType::float32, {0}), Weak::floating);
  std::vector<Sym> items;
  const std::vector<Span> spans(sym.items.size(), span);
  bool constant = true, weak = true;
  for (const Sym& item : sym.items) {
    if (is_dataset(item))
      fail(span, "a list of datasets is not a value here; a tuple of them is: (a, b)");
    items.push_back(tensor(item, span));
    constant &= items.back().is_constant();
    weak &= items.back().is_constant() && items.back().weak != Weak::no;
  }
  unify(&items, spans);
  if (!constant) {
    for (Sym& s : items) s = strong(s);
    Attrs attrs;
    attrs.set("axis", Attr::integer(0));
    return op("stack", std::move(items), std::move(attrs), span);
  }
  Weak kind = Weak::no;
  if (weak) {
    kind = Weak::integer;
    for (const Sym& s : items) kind = std::max(kind, s.weak);
  } else {
    for (Sym& s : items) s = strong(s);
  }
  const Tensor& first = items[0].tensor;
  Tensor out =
      Tensor::make(first.dtype(), first.dims().with_front(static_cast<int64_t>(items.size())));
  const auto bytes = static_cast<size_t>(first.data_bytes());
  for (size_t i = 0; i < items.size(); ++i) {
    const Tensor& item = items[i].tensor;
    if (!(item.dims() == first.dims())) {
      fail(span, "the entries of a list must have one shape: " + first.dims().text() + " and " +
                     item.dims().text());
    }
    if (item.dtype() != first.dtype()) {
      fail(span,
           "the entries of a list must have one dtype: " + std::string(dtype_name(first.dtype())) +
               " and " + std::string(dtype_name(item.dtype())));
    }
    if (bytes > 0) std::memcpy(out.mutable_data() + i * bytes, item.data(), bytes);
    if (first.dtype() == DType::bytes) out.mutable_buffer().keep(item.buffer());
  }
  return Sym::of(first.dtype() == DType::bytes ? out.copy() : out, kind);
}

Spec Elaborator::flatten(const Sym& sym, Span span, std::vector<ValueId>* ids) {
  switch (sym.kind) {
    case Sym::Kind::none: return Spec();
    case Sym::Kind::dataset: {
      Scope* pipelines = template_scope();
      if (!pipelines) fail(span, "a dataset is not a value here");
      if (sym.scope && sym.scope != pipelines)
        fail(span, "a pipeline made in another function cannot be used in this one");
      for (const PlanNode* node : topological(*sym.plan)) {
        if (!node->op->keeps_files || !node->op->keeps_files(*node)) continue;
        fail(node->span.source ? node->span : span,
             node->op->name + ": the elements of a folder belong to one pipeline, here each row of "
                              "a function has its own; move it after the stage that takes the "
                              "function, or use cache() in memory");
      }
      const LeafSpec leaf = LeafSpec::dataset(sym.plan->spec);
      const std::vector<ValueId> environment =
          sym.scope ? pipelines->environment : std::vector<ValueId>();
      ids->push_back(scope_->builder->add_dataset(sym.plan, environment, leaf));
      return Spec::of(leaf);
    }
    case Sym::Kind::tuple:
    case Sym::Kind::dict: {
      std::vector<Spec> items;
      for (const Sym& item : sym.items) items.push_back(flatten(item, span, ids));
      return sym.kind == Sym::Kind::tuple ? Spec::tuple(std::move(items))
                                          : Spec::dict(sym.keys, std::move(items));
    }
    case Sym::Kind::function: fail(span, "gives a function, expected a value");
    default: break;
  }
  const Sym leaf = sym.kind == Sym::Kind::value ? sym : strong(tensor(sym, span));
  ids->push_back(value_in(leaf, scope_));
  return Spec::of(scope_->builder->type(ids->back()));
}

Attr Elaborator::tree(const Sym& sym, Span span, bool lists_are_tensors) {
  switch (sym.kind) {
    case Sym::Kind::none: return {};
    case Sym::Kind::automatic: return Attr::automatic();
    case Sym::Kind::dtype: return Attr::of(sym.dtype);
    case Sym::Kind::constant: return Attr::of(strong(sym).tensor);
    case Sym::Kind::value: {
      Scope* pipelines = template_scope();
      // The arguments of ops are fixed when the pipeline is built, those of stages may be captured.
      if (sym.scope == &top_) {
        fail(span,
             "must be a constant: this is known only when the pipeline is opened; it comes from a "
             "file, or takes more than 16 MiB");
      }
      if (!pipelines) fail(span, "must be a constant");
      return Attr::capture(capture(sym, pipelines), type(sym));
    }
    case Sym::Kind::list:
      if (lists_are_tensors) return tree(strong(tensor(sym, span)), span, true);
      [[fallthrough]];
    case Sym::Kind::tuple:
    case Sym::Kind::dict: {
      std::vector<Attr> items;
      for (const Sym& item : sym.items) items.push_back(tree(item, span, lists_are_tensors));
      if (sym.kind == Sym::Kind::list) return Attr::list(std::move(items));
      return sym.kind == Sym::Kind::tuple ? Attr::tuple(std::move(items))
                                          : Attr::dict(sym.keys, std::move(items));
    }
    case Sym::Kind::function: fail(span, "is a function, expected a value");
    case Sym::Kind::dataset: fail(span, "is a dataset, expected a value");
  }
  return {};
}

Attr Elaborator::attribute(const Sym& sym, Param::Kind kind, Span span, bool accepts_none) {
  if (sym.kind == Sym::Kind::none && accepts_none) return {};
  auto expect = [&](bool good, const char* what) {
    if (!good) fail(span, std::string("expected ") + what);
  };
  switch (kind) {
    case Param::Kind::dtype:
      expect(sym.kind == Sym::Kind::dtype, "a dtype: int64, float32, ...");
      return Attr::of(sym.dtype);
    case Param::Kind::integer:
      expect(sym.is_constant() && sym.tensor.dims().rank() == 0 && is_integer(sym.tensor.dtype()),
             "a constant integer");
      return Attr::integer(integer_at(sym.tensor));
    case Param::Kind::floating:
      expect(sym.is_constant() && sym.tensor.dims().rank() == 0 && is_number(sym.tensor.dtype()),
             "a constant number");
      return Attr::floating(number_at(sym.tensor));
    case Param::Kind::boolean:
      expect(sym.is_constant() && sym.tensor.dims().rank() == 0 &&
                 sym.tensor.dtype() == DType::boolean,
             "true or false");
      return Attr::of(sym.tensor);
    case Param::Kind::text:
      expect(
          sym.is_constant() && sym.tensor.dims().rank() == 0 && sym.tensor.dtype() == DType::bytes,
          "a constant string");
      return Attr::of(sym.tensor);
    case Param::Kind::shape: {
      if (sym.kind == Sym::Kind::none) return {};
      if (sym.is_constant()) {
        expect(is_integer(sym.tensor.dtype()) || sym.tensor.entries_count() == 0,
               "a shape: a list of sizes");
        std::vector<Attr> sizes;
        for (int64_t i = 0; i < sym.tensor.entries_count(); ++i)
          sizes.push_back(Attr::integer(integer_at(sym.tensor, i)));
        return Attr::list(std::move(sizes));
      }
      expect(sym.kind == Sym::Kind::list || sym.kind == Sym::Kind::tuple,
             "a shape: a list of sizes");
      std::vector<Attr> sizes;
      for (const Sym& item : sym.items) {
        sizes.push_back(item.kind == Sym::Kind::none
                            ? Attr()
                            : attribute(item, Param::Kind::integer, span, false));
      }
      return Attr::list(std::move(sizes));
    }
    case Param::Kind::tensor: {
      const Sym t = tensor(sym, span);
      return tree(t, span, true);
    }
    case Param::Kind::structure: return tree(sym, span, true);
    default: return tree(sym, span, false);
  }
}

}  // namespace penstock
