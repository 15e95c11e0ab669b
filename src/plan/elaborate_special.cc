// Calls that exist only while a plan is built, by name; those of literals and tables are in
// elaborate_literal.cc and elaborate_table.cc.

#include <algorithm>

#include "plan/builtin_names.h"
#include "plan/elaborator.h"
#include "plan/static_forms.h"

namespace penstock {
namespace {

const Argument* positional(const std::vector<Argument>& arguments, size_t i, std::string_view key) {
  for (const Argument& a : arguments) {
    if (a.key == key) return &a;
  }
  return i < arguments.size() && arguments[i].key.empty() ? &arguments[i] : nullptr;
}

}  // namespace

std::span<const Elaborator::SpecialForm> Elaborator::special_forms() {
  static constexpr SpecialForm kForms[] = {
      {"map_structure", &Elaborator::map_structure_form},
      {"apply", &Elaborator::apply_form},
      {"repeated", &Elaborator::repeated_form},
      {"feature", &Elaborator::feature_form},
      {"ragged", &Elaborator::ragged_literal_form},
      {"sparse", &Elaborator::sparse_form},
      {"lookup", &Elaborator::lookup_form},
      {"size", &Elaborator::size_form},
  };
  return kForms;
}

bool is_special_form(std::string_view name) {
  return std::ranges::find(Elaborator::special_forms(), name, &Elaborator::SpecialForm::name) !=
         Elaborator::special_forms().end();
}

bool Elaborator::special_call(const std::string& name, const Arguments& arguments, Span span,
                              Sym* out) {
  for (const SpecialForm& form : special_forms()) {
    if (form.name == name) return (this->*form.make)(arguments, span, out);
  }
  const StaticForm* form = find_static_form(name);
  if (form) *out = static_form(*form, arguments, span);
  return form != nullptr;
}

bool Elaborator::map_structure_form(const Arguments& arguments, Span span, Sym* out) {
  const Argument *x = positional(arguments, 0, "x"), *f = positional(arguments, 1, "f");
  if (!x || !f || f->sym.kind != Sym::Kind::function)
    fail(span, "map_structure takes a structure and a function");
  const std::function<Sym(const Sym&)> walk = [&](const Sym& s) -> Sym {
    if (s.kind != Sym::Kind::tuple && s.kind != Sym::Kind::dict)
      return closure_call(*f->sym.closure, {{x->span, {}, s}}, span);
    Sym copy = s;
    for (Sym& item : copy.items) item = walk(item);
    return copy;
  };
  *out = walk(x->sym);
  return true;
}

bool Elaborator::apply_form(const Arguments& arguments, Span span, Sym* out) {
  const Argument *x = positional(arguments, 0, "input"), *f = positional(arguments, 1, "f");
  if (!x || !is_dataset(x->sym) || !f || f->sym.kind != Sym::Kind::function)
    fail(span, "apply takes a dataset and a function of it: apply(d -> d | take(3))");
  *out = closure_call(*f->sym.closure, {{x->span, {}, x->sym}}, span);
  if (!is_dataset(*out)) fail(f->span, "apply: the function must give a dataset");
  return true;
}

bool Elaborator::repeated_form(const Arguments& arguments, Span span, Sym* out) {
  const Argument *x = positional(arguments, 0, "x"), *n = positional(arguments, 1, "n");
  if (!x || !n) fail(span, "repeated takes a value and a count");
  const int64_t count = attribute(n->sym, Param::Kind::integer, n->span, false).as_int();
  if (count < 0 || count > 10'000)
    fail(n->span, "the count must lie between 0 and 10000: " + std::to_string(count));
  *out = Sym::tuple(std::vector<Sym>(static_cast<size_t>(count), x->sym));
  return true;
}

bool Elaborator::feature_form(const Arguments& arguments, Span span, Sym* out) {
  *out = Sym::dict({"dtype", "shape", "default", "kind"}, std::vector<Sym>(4));
  const std::vector<Param> params{required("dtype", Param::Kind::dtype),
                                  optional("shape", Param::Kind::shape, {}),
                                  optional("default", Param::Kind::any, {}),
                                  optional("kind", Param::Kind::text, {}),
                                  option("value_key", Param::Kind::text, {}),
                                  option("partitions", Param::Kind::any, {}),
                                  option("index_key", Param::Kind::any, {}),
                                  option("size", Param::Kind::any, {}),
                                  option("allow_missing", Param::Kind::boolean, {})};
  const std::vector<const Argument*> found = match("feature", params, arguments, span, nullptr);
  for (size_t i = 0; i < params.size(); ++i) {
    if (found[i] && i < 4) out->items[i] = found[i]->sym;
    if (found[i] && i >= 4) {
      out->keys.push_back(params[i].name);
      out->items.push_back(found[i]->sym);
    }
  }
  if (out->items[3].kind == Sym::Kind::none) out->items[3] = Sym::of(Tensor::of_bytes("fixed"));
  return true;
}

}  // namespace penstock
