// Tables, vocabularies and models: the dicts that ops read, and tables made of datasets.

#include <algorithm>

#include "functions/kernels/text/lookup_table.h"
#include "functions/kernels/text/model_file.h"
#include "plan/elaborator.h"
#include "plan/static_forms.h"

namespace penstock {

// The dataset that a table is made of; null for all else.
const Sym* Elaborator::dataset_of_table(const Sym& sym) const {
  const bool form = sym.kind == Sym::Kind::dict && sym.keys.size() > 1 && sym.keys[0] == "is" &&
                    sym.keys[1] == "keys";
  return form && is_dataset(sym.items[1]) ? &sym.items[1] : nullptr;
}

// lookup(table(dataset), s): the dataset is run when the first key is looked up.
Sym Elaborator::lookup_in(const Sym& dataset, const std::vector<Argument>& arguments, Span span) {
  const OpDef* lookup = OpRegistry::instance().find("lookup");
  const std::vector<const Argument*> found =
      match("lookup", lookup->params, arguments, span, nullptr);
  if (scope_ == &top_)
    fail(found[0]->span, "lookup: a table made of a dataset is there when the pipeline runs: look "
                         "keys up in a function");
  if (dataset.kind != Sym::Kind::dataset || dataset.scope)
    fail(found[0]->span, "lookup: the dataset of a table must not depend on a row");
  std::vector<ValueId> ids;
  flatten(dataset, found[0]->span, &ids);
  Attrs attrs;
  const Sym& table = found[0]->sym;
  for (size_t i = 2; i < table.keys.size(); ++i) {
    const Param::Kind kind =
        table.keys[i] == "oov_buckets" ? Param::Kind::integer : Param::Kind::any;
    attrs.set(table.keys[i], attribute(table.items[i], kind, found[0]->span, true));
  }
  return op("lookup_in", {value(ids[0]), tensor(found[1]->sym, found[1]->span)}, std::move(attrs),
            span, {found[0]->span, found[1]->span});
}

// A table, vocabulary or model as the dict that ops read; tables are checked where they stand.
Sym Elaborator::static_form(const StaticForm& form, const std::vector<Argument>& arguments,
                            Span span) {
  const std::string name(form.name);
  Sym out = Sym::dict({"is"}, {Sym::of(Tensor::of_bytes(name))});
  const std::vector<const Argument*> found = match(name, form.params, arguments, span, nullptr);
  auto add = [&out](const std::string& key, Sym sym) {
    out.keys.push_back(key);
    out.items.push_back(std::move(sym));
  };
  auto place_of = [&](std::string_view param) {
    for (size_t i = 0; i < form.params.size(); ++i) {
      if (form.params[i].name == param && found[i]) return found[i]->span;
    }
    return span;
  };
  for (size_t i = 0; i < form.params.size(); ++i) {
    if (found[i]) add(form.params[i].name, found[i]->sym);
  }
  if (form.takes_dataset && is_dataset(found[0]->sym)) {
    if (found[1]) fail(found[1]->span, name + ": a dataset of keys and values gives both");
    return out;
  }
  for (const std::string_view param : {"file", "vocab", "merges"}) {
    const auto at = std::ranges::find(out.keys, param) - out.keys.begin();
    if (at == std::ssize(out.keys)) continue;
    const Attr file =
        attribute(out.items[static_cast<size_t>(at)], Param::Kind::text, place_of(param), false);
    if (const std::string missing = missing_file(file.as_string()); !missing.empty())
      fail(place_of(param), name + ": " + missing, Code::not_found);
  }
  if (!form.is_table) return out;
  std::vector<Attr> items;
  for (size_t i = 0; i < out.items.size(); ++i)
    items.push_back(attribute(out.items[i], Param::Kind::any, place_of(out.keys[i]), true));
  try {
    const Attr attr = Attr::dict(out.keys, std::move(items));
    // A literal default is as wide as the values.
    const auto at = std::ranges::find(out.keys, "default") - out.keys.begin();
    if (at < std::ssize(out.keys)) {
      Sym& given = out.items[static_cast<size_t>(at)];
      const DType values = LookupTable::types_of(attr).values;
      if (given.is_constant() && given.weak != Weak::no && is_float(values))
        given = coerce(given, values, place_of("default"));
    }
    LookupTable::check(attr);
  } catch (const TableMistake& e) {
    fail(place_of(e.param), name + ": " + e.message, e.code);
  }
  return out;
}

bool Elaborator::lookup_form(const Arguments& arguments, Span span, Sym* out) {
  const Sym* source = arguments.empty() ? nullptr : dataset_of_table(arguments[0].sym);
  if (source) *out = lookup_in(*source, arguments, span);
  return source != nullptr;
}

// The size of a table is the number of its words.
bool Elaborator::size_form(const Arguments& arguments, Span span, Sym* out) {
  const bool of_table = arguments.size() == 1 && arguments[0].sym.kind == Sym::Kind::dict &&
                        !arguments[0].sym.keys.empty() && arguments[0].sym.keys[0] == "is";
  if (!of_table) return false;
  const Sym words = call_named("words", {{arguments[0].span, {}, arguments[0].sym}}, span);
  *out = call_named("size", {{arguments[0].span, {}, words}}, span);
  return true;
}

}  // namespace penstock
