// Stages: dataset operators and their functions; and the ways in.

#include <algorithm>

#include "data/object_list.h"
#include "plan/builtin_names.h"
#include "plan/elaborator.h"
#include "plan/name_check.h"
#include "plan/parser.h"

namespace penstock {

bool Elaborator::is_dataset(const Sym& sym) const {
  return sym.kind == Sym::Kind::dataset ||
         (sym.kind == Sym::Kind::value && penstock::is_dataset(sym.scope->builder->type(sym.id)));
}

Scope* Elaborator::template_scope() {
  if (scope_ == &top_) return nullptr;
  if (!scope_->pipelines) {
    scope_->pipelines = std::make_unique<Scope>();
    scope_->pipelines->parent = scope_;
    scope_->pipelines->is_template = true;
  }
  return scope_->pipelines.get();
}

// A nested dataset that came in as a value becomes a source that opens it.
Sym Elaborator::as_dataset(const Sym& sym, Span span) {
  if (sym.kind == Sym::Kind::dataset) return sym;
  if (!is_dataset(sym)) fail(span, "expected a dataset");
  Scope* pipelines = template_scope();
  Attrs args;
  args.set("dataset", Attr::capture(capture(sym, pipelines), type(sym)));
  Sym out;
  out.kind = Sym::Kind::dataset;
  out.scope = pipelines;
  out.plan = make_node("dataset_of", {}, std::move(args), {}, span);
  return out;
}

Sym Elaborator::stage_inputs(const Param& param, std::vector<const Argument*> arguments,
                             std::vector<PlanPtr>* inputs, Attrs* args) {
  Scope* scope = nullptr;
  auto add = [&](const Sym& sym, Span span) {
    const Sym d = as_dataset(sym, span);
    if (d.scope) scope = d.scope;
    inputs->push_back(d.plan);
    return Attr::integer(static_cast<int64_t>(inputs->size()) - 1);
  };
  Sym out;
  if (param.kind == Param::Kind::dataset) {
    add(arguments[0]->sym, arguments[0]->span);
  } else {
    const std::function<Attr(const Sym&, Span)> walk = [&](const Sym& s, Span span) -> Attr {
      if (is_dataset(s)) return add(s, span);
      if (s.kind != Sym::Kind::tuple && s.kind != Sym::Kind::dict && s.kind != Sym::Kind::list)
        fail(span, "expected datasets, or a tuple, dict or list of them");
      std::vector<Attr> items;
      for (const Sym& item : s.items) items.push_back(walk(item, span));
      if (s.kind == Sym::Kind::list) return Attr::list(std::move(items));
      return s.kind == Sym::Kind::tuple ? Attr::tuple(std::move(items))
                                        : Attr::dict(s.keys, std::move(items));
    };
    Attr structure;
    if (arguments.size() == 1 &&
        (arguments[0]->sym.kind == Sym::Kind::tuple || arguments[0]->sym.kind == Sym::Kind::dict)) {
      structure = walk(arguments[0]->sym, arguments[0]->span);
    } else if (arguments.size() == 1) {  // one dataset alone stays what it is
      structure = walk(arguments[0]->sym, arguments[0]->span);
    } else {
      std::vector<Attr> items;
      for (const Argument* a : arguments) items.push_back(walk(a->sym, a->span));
      structure = Attr::tuple(std::move(items));
    }
    args->set("structure", std::move(structure));
  }
  out.scope = scope;
  return out;
}

FunctionPtr Elaborator::function(const Sym& closure, const Spec& input, Span span) {
  Scope* made = nullptr;
  return function_in(template_scope(), closure, input, span, &made, true);
}

namespace {

// A function of n arguments takes a tuple of n apart, also for n = 1, unless its pattern does so.
bool takes_one_apart(const Closure& closure) {
  if (!closure.lambda) return true;
  const std::vector<PatternPtr>& patterns = closure.lambda->patterns;
  return patterns.size() == 1 &&
         (patterns[0]->kind != Pattern::Kind::tuple || patterns[0]->items.size() != 1);
}

}  // namespace

FunctionPtr Elaborator::function_in(Scope* parent, const Sym& closure, const Spec& input, Span span,
                                    Scope** made, bool apart) {
  if (closure.kind != Sym::Kind::function) fail(span, "expected a function: x -> ...");
  Scope* const outer = scope_;
  scopes_.push_back(std::make_unique<Scope>());
  Scope* inner = scopes_.back().get();
  *made = inner;
  inner->parent = parent;
  const Closure& c = *closure.closure;
  inner->builder = std::make_unique<FunctionBuilder>(
      input, c.lambda ? static_cast<int>(c.lambda->patterns.size()) : 1);
  scope_ = inner;
  std::vector<ValueId> leaves;
  for (int i = 0; i < input.leaf_count(); ++i) leaves.push_back(i);
  size_t next = 0;
  Sym element = from_spec(input, leaves, &next);
  if (apart && element.kind == Sym::Kind::tuple && element.items.size() == 1 && takes_one_apart(c))
    element = Sym(element.items[0]);
  std::vector<Argument> arguments;
  if (c.lambda && c.lambda->patterns.size() != 1) {
    if (element.kind != Sym::Kind::tuple) {
      fail(span, "the function takes " + std::to_string(c.lambda->patterns.size()) +
                     " arguments, an element is " + input.text());
    }
    if (element.items.size() != c.lambda->patterns.size()) {
      fail(span, "the function takes " + std::to_string(c.lambda->patterns.size()) +
                     " arguments, an element has " + std::to_string(element.items.size()));
    }
    for (const Sym& item : element.items) arguments.push_back({span, {}, item});
  } else {
    arguments.push_back({span, {}, element});
  }
  if (c.lambda && c.lambda->patterns.size() == 1 && element.kind == Sym::Kind::value &&
      c.lambda->patterns[0]->kind == Pattern::Kind::name) {
    inner->builder->name(element.id, c.lambda->patterns[0]->name);
  }
  const Sym result = closure_call(c, std::move(arguments), span);
  std::vector<ValueId> ids;
  const Spec output = flatten(result, span, &ids);
  FunctionPtr out = inner->builder->finish(output, std::move(ids));
  scope_ = outer;
  return out;
}

FunctionPtr Elaborator::stage_function(NodeDraft& draft, const Param& param, const Sym& closure,
                                       Span span) {
  Spec input = draft.node.op->function_input(draft, param.name);
  if (draft.node.op->function_arity == 1 && draft.node.op->state_param != param.name)
    return function(closure, input, span);
  // A state goes round: its shape is widened until what comes out fits what goes in.
  for (int round = 0;; ++round) {
    const uint64_t occurrence = occurrence_;
    const FunctionPtr f = function(closure, input, span);
    const Spec& state = input.items[0];
    const Spec& given = f->output.kind == Spec::Kind::tuple && draft.node.op->state_in_pair &&
                                !f->output.items.empty()
                            ? f->output.items[0]
                            : f->output;
    bool ok = false;
    const Spec joined = join_specs(state, given, &ok);
    if (!ok) fail(span, "the state is " + state.text() + ", the function gives " + given.text());
    if (joined == state) return f;
    if (round == 8) fail(span, "the shape of the state does not settle: " + joined.text());
    input.items[0] = joined;
    occurrence_ = occurrence;
  }
}

namespace {

bool holds_dataset(const Sym& sym) {
  return sym.kind == Sym::Kind::dataset || std::ranges::any_of(sym.items, holds_dataset);
}

}  // namespace

// One element that holds datasets: a function of nothing much gives it.
Sym Elaborator::from_nested(const Argument& argument, Span span) {
  Attrs args;
  args.set("tensors", Attr::integer(0));
  const PlanPtr one = make_node("from_tensors", {}, std::move(args), {}, span);
  Scope* const outer = scope_;
  scopes_.push_back(std::make_unique<Scope>());
  scope_ = scopes_.back().get();
  scope_->parent = outer == &top_ ? nullptr : outer->pipelines.get();
  scope_->builder = std::make_unique<FunctionBuilder>(one->spec);
  std::vector<ValueId> ids;
  const Spec spec = flatten(argument.sym, argument.span, &ids);
  FunctionPtr f = scope_->builder->finish(spec, std::move(ids));
  scope_ = outer;
  Sym out;
  out.kind = Sym::Kind::dataset;
  out.plan = make_node("map", {one}, {}, {{"f", std::move(f)}}, span);
  return out;
}

// Elements that hold datasets, one after the other.
Sym Elaborator::from_nested_list(const Argument& list, Span span) {
  Sym out;
  for (const Sym& item : list.sym.items) {
    Sym one = from_nested({list.span, {}, item}, span);
    if (!out.plan) {
      out = std::move(one);
      continue;
    }
    try {
      out.plan = make_node("concatenate", {out.plan, one.plan}, {}, {}, span);
    } catch (const ArgumentError& e) {
      fail(list.span, "from_list: " + e.message, e.code);
    }
  }
  return out;
}

// A dataset given for a tensor is the argument of the parameter that takes one in its place.
void Elaborator::move_datasets(const OperatorDef& def, std::vector<const Argument*>* found) const {
  for (size_t i = 0; i < def.params.size(); ++i) {
    if (def.params[i].kind != Param::Kind::tensor || !(*found)[i] || !is_dataset((*found)[i]->sym))
      continue;
    for (size_t k = 0; k < def.params.size(); ++k) {
      const bool instead = def.params[k].kind == Param::Kind::dataset && !(*found)[k] &&
                           spelled_name(def, def.params[k]) == def.params[i].name;
      if (instead) (*found)[k] = std::exchange((*found)[i], nullptr);
    }
  }
}

Sym Elaborator::stage_call(const OperatorDef& def, std::vector<Argument> arguments, Span span) {
  const auto policy = std::ranges::find(arguments, "on_error", &Argument::key);
  if (policy != arguments.end()) {
    const Argument on_error = std::move(*policy);
    arguments.erase(policy);
    return with_failure_policy(stage_call(def, std::move(arguments), span), on_error);
  }
  if (!def.reader_param.empty() &&
      std::ranges::find(arguments, def.reader_param, &Argument::key) != arguments.end())
    return load_by(def, std::move(arguments), span);
  if (const Argument* names = names_dataset(def, arguments))
    return read_named_files(def, arguments, *names, span);
  if (arguments.size() == 1 && holds_dataset(arguments[0].sym) && scope_ == &top_) {
    if (def.literal == Literal::element) return from_nested(arguments[0], span);
    if (def.literal == Literal::list && arguments[0].sym.kind == Sym::Kind::list)
      return from_nested_list(arguments[0], span);
  }
  stages_.push_back(def.name);
  std::vector<const Argument*> rest;
  std::vector<const Argument*> found = match("", def.params, arguments, span, &rest);
  move_datasets(def, &found);
  NodeDraft draft;
  draft.node.op = &def;
  draft.node.span = span;
  Scope* scope = nullptr;
  auto span_of = [&](const std::string& param) {
    for (size_t i = 0; i < def.params.size(); ++i) {
      if (def.params[i].name != param || !found[i]) continue;
      // All that stands before `|` is too much to point at.
      const bool piped = def.params[i].kind == Param::Kind::dataset && span.source &&
                         found[i]->span.begin < span.begin;
      return piped ? span : found[i]->span;
    }
    return span;
  };
  for (size_t i = 0; i < def.params.size(); ++i) {
    const Param& p = def.params[i];
    const Argument* a = found[i];
    if (p.kind == Param::Kind::dataset || p.kind == Param::Kind::datasets) {
      std::vector<const Argument*> given;
      if (p.kind == Param::Kind::datasets) given = rest;
      if (a) given.insert(given.begin(), a);
      if (given.empty()) continue;
      const Sym made = stage_inputs(
          p, p.kind == Param::Kind::dataset ? std::vector<const Argument*>{given[0]} : given,
          &draft.node.inputs, &draft.node.args);
      if (made.scope) scope = made.scope;
      continue;
    }
    if (p.kind == Param::Kind::function) continue;
    Attr value = p.fallback;
    if (a && a->sym.kind == Sym::Kind::automatic) {
      if (!p.performance) fail(a->span, "`" + p.name + "` changes the data and is never auto");
      value = Attr::automatic();
    } else if (a) {
      if (p.kind == Param::Kind::tensor && a->sym.kind == Sym::Kind::none) {
        if (!p.accepts_none) fail(a->span, "`" + p.name + "` must not be none");
        value = {};
      } else {
        value = attribute(a->sym, p.kind, a->span, true);
      }
    }
    // What does not shuffle needs no seed.
    const Attr* shuffles = draft.node.args.find("shuffle");
    const bool draws = !shuffles || (shuffles->is_tensor() && shuffles->as_bool());
    if (p.name == "seed" && value.is_none() && draws)
      value = Attr::integer(static_cast<int64_t>(next_seed()));
    if (value.has_capture()) scope = template_scope();
    draft.node.args.set(p.name, std::move(value));
  }
  for (size_t i = 0; i < def.params.size(); ++i) {
    const Param& p = def.params[i];
    if (p.kind != Param::Kind::function || !found[i]) continue;
    FunctionPtr f = stage_function(draft, p, found[i]->sym, found[i]->span);
    if (!f->captures.empty()) scope = template_scope();
    draft.node.functions.emplace_back(p.name, std::move(f));
  }
  Sym out;
  const Attr* reads = draft.node.args.find("num_parallel_reads");
  try {
    const bool in_turn = reads && reads->is_tensor() && reads->as_int() > 1;
    if (in_turn)
      make_node(def, {}, draft.node.args, {}, span);  // says what is wrong with the arguments
    out.plan = in_turn ? parallel_reads(def, draft.node.args, reads->as_int(), span)
                       : make_node(def, std::move(draft.node.inputs), std::move(draft.node.args),
                                   std::move(draft.node.functions), span);
  } catch (const ArgumentError& e) {
    // "must be positive" wants to be told what.
    bool bare = false;
    for (const std::string_view verb : {"must ", "is ", "gives ", "has ", "needs "})
      bare |= e.message.starts_with(verb);
    fail(span_of(e.param), bare && !e.param.empty() ? e.param + " " + e.message : e.message,
         e.code);
  } catch (const Error& e) {
    fail(span, e.message(), e.code());
  }
  stages_.pop_back();
  out.kind = Sym::Kind::dataset;
  out.scope = scope;
  if (!def.sink || scope_ == &top_) return out;
  std::vector<ValueId> ids;  // a value of the function around it
  flatten(out, span, &ids);
  return op("value_of", {value(ids[0])}, {}, span);
}

PlanPtr Elaborator::as_plan(const Sym& sym, Span span) {
  if (sym.kind != Sym::Kind::dataset)
    fail(span, "the pipeline ends in a value that is not a dataset; end it with a stage");
  return sym.plan;
}

PipeError Elaborator::with_name_mistakes(const PipeError& error, const Program& program) const {
  std::vector<std::string> known;
  for (const auto& [name, plan] : options_.datasets) known.push_back(name);
  for (const Statement& s : program.statements) {
    if (s.kind != Statement::Kind::import_file) continue;
    const auto read = imported_.find(import_path(s));
    if (read == imported_.end() || read->second) return error;  // what it defines is not known
  }
  for (const Program& p : programs_) {
    for (const Statement& s : p.statements) {
      if (s.pattern) add_bound_names(*s.pattern, &known);
    }
  }
  std::vector<Diagnostic> all = error.diagnostics();
  const Span first = all[0].span;
  for (Diagnostic& d : check_names(program, known)) {
    if (d.span.source != first.source || d.span.begin != first.begin) all.push_back(std::move(d));
  }
  // In the order of the text, behind what is wrong in another.
  auto at = [&program](const Diagnostic& d) {
    const bool here = d.span.source == program.source.get();
    return std::pair(here, here ? d.span.begin : 0);
  };
  std::ranges::stable_sort(all, {}, at);
  return PipeError(std::move(all));
}

BuiltPlan build_plan(const Program& program, const BuildOptions& options) {
  Elaborator elaborator(options);
  BuiltPlan out;
  try {
    const Sym result = elaborator.run(program);
    out.plan = elaborator.as_plan(result, program.result->span);
  } catch (const PipeError& e) {
    throw elaborator.with_name_mistakes(e, program);
  }
  out.sources = elaborator.sources();
  out.sources.push_back(program.source);
  out.warnings = elaborator.warnings;
  return out;
}

BuiltPlan build_plan(SourcePtr source, const BuildOptions& options) {
  return build_plan(parse_program(std::move(source)), options);
}

FunctionPtr build_function(const ExprPtr& lambda, const Spec& input, const BuildOptions& options) {
  Elaborator elaborator(options);
  return elaborator.function(
      elaborator.expression(*lambda, elaborator.bind_names(options.datasets)), input, lambda->span);
}

}  // namespace penstock
