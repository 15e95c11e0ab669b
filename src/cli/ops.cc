// penstock ops: every dataset operator and function op.

#include <algorithm>
#include <cstdio>
#include <map>

#include "cli/args.h"
#include "cli/print_json.h"
#include "cli/terminal.h"
#include "datasets/datasets.h"
#include "plan/builtin_names.h"
#include "plan/node.h"
#include "plan/spelling.h"
#include "report/element_json.h"

namespace penstock::cli {
namespace {

std::string literal(const Attr& a) {
  switch (a.kind()) {
    case Attr::Kind::none: return "none";
    case Attr::Kind::automatic: return "auto";
    case Attr::Kind::dtype: return std::string(dtype_name(a.as_dtype()));
    case Attr::Kind::tensor: return tensor_to_json(a.tensor()).dump();
    default: return "...";
  }
}

std::string signature(const std::string& name, const std::vector<Param>& params) {
  std::string out = name + "(";
  bool first = true;
  for (const Param& p : params) {
    out += (first ? "" : ", ") + p.name;
    if (!p.required) out += "=" + literal(p.fallback);
    if (p.kind == Param::Kind::tensors || p.kind == Param::Kind::datasets) out += "...";
    first = false;
  }
  return out + ")";
}

std::string effects_name(Effects e) {
  return e == Effects::pure ? "pure" : e == Effects::random ? "random" : "stateful";
}

struct Entry {
  std::string name, group, signature, doc, effects;
  bool can_fail = false, elementwise = false;
};

std::vector<Entry> entries() {
  register_datasets();
  std::vector<Entry> out;
  for (const OperatorDef* op : OperatorRegistry::instance().all()) {
    if (op->internal) continue;
    out.push_back({op->name,
                   op->source ? "source"
                   : op->sink ? "sink"
                              : "stage",
                   signature(op->name, op->params), op->doc, op->random ? "random" : "pure"});
  }
  for (const OpDef* op : OpRegistry::instance().all()) {
    // Internal: the syntax of pipelines inside functions and `lookup` stand for them.
    const Form form = spelling_of(op->name).form;
    if (form == Form::pipeline || form == Form::lookup) continue;
    out.push_back({op->name, op->group.empty() ? "op" : op->group, signature(op->name, op->params),
                   op->doc, effects_name(op->effects), op->can_fail, op->elementwise});
  }
  out.push_back({"ragged", "literals", "ragged(rows, ragged_rank=none, dtype=none)",
                 "a ragged tensor: nested lists of uneven lengths", "pure"});
  out.push_back({"sparse", "literals", "sparse(indices, values, shape)",
                 "a sparse tensor: a value for each index", "pure"});
  // Adds the plain names of reductions, and of split, whose meaning depends on its argument.
  for (size_t i = out.size(); i-- > 0;) {
    const Spelling spelling = spelling_of(out[i].name);
    if (spelling.form != Form::plain && spelling.form != Form::of_strings) continue;
    Entry alias = out[i];
    alias.name = spelling.text;
    alias.signature = alias.name + alias.signature.substr(alias.signature.find('('));
    out.push_back(std::move(alias));
  }
  return out;
}

int ops(const Args& args) {
  const std::vector<Entry> all = entries();
  if (args.positional().size() > 1) throw UsageError{"one name at most: " + args.positional()[1]};
  const std::string name = args.positional().empty() ? "" : args.positional()[0];
  if (!name.empty() && std::ranges::none_of(all, [&](const Entry& e) { return e.name == name; })) {
    std::vector<std::string> known;
    for (const Entry& e : all) known.push_back(e.name);
    throw UsageError{no_such_call(name, false, known)};
  }
  Json list = Json::array();
  std::map<std::string, std::vector<const Entry*>> groups;
  for (const Entry& e : all) {
    if (!name.empty() && e.name != name) continue;
    groups[e.group].push_back(&e);
    list.push_back({{"name", e.name},
                    {"group", e.group},
                    {"signature", e.signature},
                    {"doc", e.doc},
                    {"effects", e.effects},
                    {"can_fail", e.can_fail},
                    {"elementwise", e.elementwise}});
  }
  if (args.has("--json")) {
    print_json({{"ops", list}});
    return 0;
  }
  for (const auto& [group, members] : groups) {
    std::printf("%s\n", paint(Stream::out, Style::bold, group).c_str());
    for (const Entry* e : members) {
      std::printf("  %s\n", wrap(e->signature, 80, 6).c_str());
      const std::string effects = e->effects == "pure" ? "" : " [" + e->effects + "]";
      std::printf("      %s\n", wrap(e->doc + effects, 80, 6).c_str());
    }
  }
  return 0;
}

}  // namespace

Command ops_command() {
  return {"ops",
          "[NAME] [flags]",
          "list every dataset operator and function op",
          "Lists the operators and ops of the language: signature, meaning, effects. With NAME, "
          "only that one.",
          {{"--json", "", "one JSON object (docs/format/ops.md)"}},
          ops};
}

}  // namespace penstock::cli
