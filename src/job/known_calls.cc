#include "job/known_calls.h"

#include "datasets/datasets.h"
#include "plan/builtin_names.h"
#include "plan/node.h"
#include "plan/spelling.h"
#include "report/element_json.h"

namespace penstock {
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

CallParameter::Kind kind_of(const Param& p, bool operator_of_datasets) {
  using Kind = CallParameter::Kind;
  switch (p.kind) {
    case Param::Kind::tensor:
    case Param::Kind::structure: return operator_of_datasets ? Kind::constant : Kind::tensor;
    case Param::Kind::tensors: return operator_of_datasets ? Kind::constant : Kind::tensors;
    case Param::Kind::dataset: return Kind::dataset;
    case Param::Kind::datasets: return Kind::datasets;
    case Param::Kind::function: return Kind::function;
    default: return Kind::constant;
  }
}

std::vector<CallParameter> parameters(const std::vector<Param>& params, bool of_datasets) {
  std::vector<CallParameter> out;
  for (const Param& p : params) {
    out.push_back({p.name, kind_of(p, of_datasets), p.required, p.by_name_only,
                   p.required ? std::string() : literal(p.fallback)});
  }
  return out;
}

std::string effects_name(Effects e) {
  return e == Effects::pure ? "pure" : e == Effects::random ? "random" : "stateful";
}

}  // namespace

std::vector<KnownCall> known_calls() {
  register_datasets();
  std::vector<KnownCall> out;
  for (const OperatorDef* op : OperatorRegistry::instance().all()) {
    if (op->internal) continue;
    out.push_back({op->name,
                   op->source ? "source"
                   : op->sink ? "sink"
                              : "stage",
                   signature(op->name, op->params), op->doc, op->random ? "random" : "pure"});
    out.back().kind = op->source ? CallInfo::Kind::source
                      : op->sink ? CallInfo::Kind::sink
                                 : CallInfo::Kind::stage;
    out.back().parameters = parameters(op->params, true);
  }
  for (const OpDef* op : OpRegistry::instance().all()) {
    // Internal: the syntax of pipelines inside functions and `lookup` stand for them.
    const Form form = spelling_of(op->name).form;
    if (form == Form::pipeline || form == Form::lookup) continue;
    out.push_back({op->name, op->group.empty() ? "op" : op->group, signature(op->name, op->params),
                   op->doc, effects_name(op->effects), op->can_fail, op->elementwise});
    out.back().parameters = parameters(op->params, false);
  }
  out.push_back({"ragged", "literals", "ragged(rows, ragged_rank=none, dtype=none)",
                 "a ragged tensor: nested lists of uneven lengths", "pure"});
  out.back().parameters = {{"rows"},
                           {"ragged_rank", CallParameter::Kind::constant, false, false, "none"},
                           {"dtype", CallParameter::Kind::constant, false, false, "none"}};
  out.push_back({"sparse", "literals", "sparse(indices, values, shape)",
                 "a sparse tensor: a value for each index", "pure"});
  out.back().parameters = {{"indices"}, {"values"}, {"shape"}};
  // Adds the plain names of reductions, and of split, whose meaning depends on its argument.
  for (size_t i = out.size(); i-- > 0;) {
    const Spelling spelling = spelling_of(out[i].name);
    if (spelling.form != Form::plain && spelling.form != Form::of_strings) continue;
    KnownCall alias = out[i];
    alias.name = spelling.text;
    alias.signature = alias.name + alias.signature.substr(alias.signature.find('('));
    out.push_back(std::move(alias));
  }
  return out;
}

std::string unknown_call(const std::string& name) {
  std::vector<std::string> known;
  for (const KnownCall& call : known_calls()) known.push_back(call.name);
  return no_such_call(name, false, known);
}

}  // namespace penstock
