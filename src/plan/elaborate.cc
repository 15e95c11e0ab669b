#include <algorithm>

#include "base/random.h"
#include "io/file.h"
#include "plan/builtin_names.h"
#include "plan/elaborator.h"
#include "plan/habits.h"
#include "plan/parser.h"
#include "plan/prelude.h"

namespace penstock {
namespace {

constexpr int64_t kMostImportBytes = 64 << 20;

}  // namespace

// Expansion is bounded: functions that call functions can multiply.
class Depth {
 public:
  Depth(Elaborator* e, Span span) : e_(e) {
    constexpr int kDeepest = 400;
    constexpr int64_t kMostSteps = 400'000;
    if (++e_->depth_ > kDeepest || ++e_->steps_ > kMostSteps) {
      --e_->depth_;
      e_->fail(span, "the pipeline is too large once its functions are expanded",
               Code::resource_exhausted);
    }
  }
  ~Depth() { --e_->depth_; }

 private:
  Elaborator* e_;
};

Sym Sym::of(Tensor tensor, Weak weak) {
  Sym out;
  out.kind = Kind::constant;
  out.tensor = std::move(tensor);
  out.weak = weak;
  return out;
}

Sym Sym::tuple(std::vector<Sym> items) {
  Sym out;
  out.kind = Kind::tuple;
  out.items = std::move(items);
  return out;
}

Sym Sym::dict(std::vector<std::string> keys, std::vector<Sym> items) {
  Sym out = tuple(std::move(items));
  out.kind = Kind::dict;
  out.keys = std::move(keys);
  return out;
}

Elaborator::Elaborator(const BuildOptions& options) : options_(options), seed_(options.seed) {
  top_.builder = std::make_unique<FunctionBuilder>(Spec());
  scope_ = &top_;
  static const SourcePtr source =
      std::make_shared<const Source>(Source{"prelude", std::string(kPrelude)});
  programs_.push_back(parse_program(source));
  for (const Statement& s : programs_.back().statements)
    prelude_ = bind(*s.pattern, expression(*s.value, prelude_), prelude_);
}

void Elaborator::fail(Span span, std::string message, Code code) const {
  std::string where;
  for (const std::string& stage : stages_) where += stage + ": ";
  throw PipeError(span, where + message, code);
}

std::string Elaborator::source_text(Span span) {
  if (!span.source || span.end <= span.begin || span.end - span.begin > 40) return {};
  return span.source->text.substr(span.begin, span.end - span.begin);
}

std::vector<SourcePtr> Elaborator::sources() const {
  std::vector<SourcePtr> out;
  for (const Program& program : programs_) out.push_back(program.source);
  return out;
}

uint64_t Elaborator::next_seed() {
  return mix(seed_, ++occurrence_) >> 34;
}  // short enough to read

NamesPtr Elaborator::bind_names(const std::map<std::string, PlanPtr>& datasets) const {
  NamesPtr names;
  for (const auto& [name, plan] : datasets) {
    Sym sym;
    sym.kind = Sym::Kind::dataset;
    sym.plan = plan;
    names = std::make_shared<const Names>(Names{name, sym, names});
  }
  return names;
}

Sym Elaborator::run(const Program& program) {
  NamesPtr names = bind_names(options_.datasets);
  for (const Statement& s : program.statements) names = statement(s, std::move(names));
  for (const auto& [name, value] : options_.settings) {
    if (!params_seen_.contains(name)) {
      std::vector<std::string> known;
      for (const auto& [param, seen] : params_seen_) known.push_back(param);
      throw Error(Code::invalid_argument,
                  "--set: the pipeline has no param " + name + did_you_mean(name, known));
    }
  }
  if (!program.result) {
    throw PipeError(Span{program.source.get(), 0, 0},
                    "the file holds no pipeline, only definitions");
  }
  return expression(*program.result, names);
}

NamesPtr Elaborator::statement(const Statement& s, NamesPtr names) {
  switch (s.kind) {
    case Statement::Kind::import_file: return import_file(s, std::move(names));
    case Statement::Kind::let: {
      Sym value = expression(*s.value, names);
      if (value.closure && s.pattern->kind == Pattern::Kind::name) {
        auto named = std::make_shared<Closure>(*value.closure);
        named->name = s.pattern->name;
        value.closure = std::move(named);
        if (OpRegistry::instance().find(s.pattern->name) ||
            OperatorRegistry::instance().find(s.pattern->name)) {
          warnings.push_back("`" + s.pattern->name + "` hides the built-in of that name");
        }
      }
      return bind(*s.pattern, value, std::move(names));
    }
    case Statement::Kind::param: break;
  }
  params_seen_[s.pattern->name] = true;
  const auto setting = options_.settings.find(s.pattern->name);
  Sym value = expression(*s.value, names);
  if (setting != options_.settings.end()) {
    const auto source =
        std::make_shared<const Source>(Source{"--set " + setting->first, setting->second});
    Program holder;
    holder.source = source;
    const Sym old = value;
    try {
      holder.result = parse_expression(source);
      value = expression(*holder.result, nullptr);
    } catch (const PipeError&) {
      // A bare word is a string where the param is one: --set data=train-*.tfrecord
      if (!(old.is_constant() && old.tensor.dtype() == DType::bytes)) throw;
      value = Sym::of(Tensor::of_bytes(setting->second));
    }
    programs_.push_back(std::move(holder));
  }
  return bind(*s.pattern, value, std::move(names));
}

std::string Elaborator::import_path(const Statement& s) {
  const std::string& from = s.span.source->name;
  const size_t slash = from.rfind('/');
  const bool beside = slash != std::string::npos && s.path.front() != '/';
  return beside ? from.substr(0, slash + 1) + s.path : s.path;
}

NamesPtr Elaborator::import_file(const Statement& s, NamesPtr names) {
  const std::string path = import_path(s);
  const auto seen = imported_.find(path);
  if (seen != imported_.end()) {
    if (seen->second) fail(s.span, "import goes round in a circle: " + path);
    return names;
  }
  std::string text;
  try {
    text = read_regular("import", path, kMostImportBytes);
  } catch (const Error& e) {
    fail(s.span, e.message(), e.code());
  }
  programs_.push_back(parse_program(std::make_shared<const Source>(Source{path, std::move(text)})));
  const Program program = programs_.back();
  if (program.result)
    fail(s.span, "import: " + path + " holds a pipeline; an imported file holds definitions only");
  imported_[path] = true;
  for (const Statement& inner : program.statements) {
    names = statement(inner, std::move(names));
  }
  imported_[path] = false;
  return names;
}

NamesPtr Elaborator::bind(const Pattern& pattern, const Sym& value, NamesPtr names) {
  switch (pattern.kind) {
    case Pattern::Kind::name:
      if (pattern.name == "_") return names;
      if (value.kind == Sym::Kind::value) value.scope->builder->name(value.id, pattern.name);
      return std::make_shared<const Names>(Names{pattern.name, value, std::move(names)});
    case Pattern::Kind::tuple:
      if (value.kind != Sym::Kind::tuple && value.kind != Sym::Kind::list) {
        fail(pattern.span, "expected a tuple of " + std::to_string(pattern.items.size()));
      }
      if (value.items.size() != pattern.items.size()) {
        fail(pattern.span, "a tuple of " + std::to_string(value.items.size()) +
                               " is taken apart into " + std::to_string(pattern.items.size()));
      }
      for (size_t i = 0; i < pattern.items.size(); ++i)
        names = bind(*pattern.items[i], value.items[i], std::move(names));
      return names;
    case Pattern::Kind::dict: break;
  }
  if (value.kind != Sym::Kind::dict) fail(pattern.span, "expected a dict");
  std::vector<bool> used(value.items.size(), false);
  for (size_t i = 0; i < pattern.items.size(); ++i) {
    const auto it = std::ranges::find(value.keys, pattern.keys[i]);
    if (it == value.keys.end()) {
      fail(pattern.items[i]->span, "there is no field `" + pattern.keys[i] + "`" +
                                       did_you_mean(pattern.keys[i], value.keys));
    }
    const auto at = static_cast<size_t>(it - value.keys.begin());
    used[at] = true;
    names = bind(*pattern.items[i], value.items[at], std::move(names));
  }
  Sym rest = Sym::dict({}, {});
  for (size_t i = 0; i < used.size(); ++i) {
    if (used[i]) continue;
    if (!pattern.rest) {
      fail(pattern.span,
           "field `" + value.keys[i] + "` is not named; name it, or end the pattern with **_");
    }
    rest.keys.push_back(value.keys[i]);
    rest.items.push_back(value.items[i]);
  }
  if (pattern.rest && *pattern.rest != "_")
    names = std::make_shared<const Names>(Names{*pattern.rest, rest, std::move(names)});
  return names;
}

Sym Elaborator::lookup(const Expr& expr, const NamesPtr& names) {
  std::vector<std::string> known;
  for (const Names* n = names.get(); n; n = n->outer.get()) {
    if (n->name == expr.text) return n->sym;
    known.push_back(n->name);
  }
  for (const Names* n = prelude_.get(); n; n = n->outer.get()) {
    if (n->name == expr.text) return n->sym;
  }
  if (const auto dtype = parse_dtype(expr.text)) {
    Sym out;
    out.kind = Sym::Kind::dtype;
    out.dtype = *dtype;
    return out;
  }
  if (OpRegistry::instance().find(expr.text)) {
    Sym out;
    out.kind = Sym::Kind::function;
    out.closure = std::make_shared<const Closure>(Closure{nullptr, nullptr, expr.text});
    return out;
  }
  std::string hint;
  if (bare_function_) hint = "; a function names its arguments: x -> ...";
  if (follows_slashes(expr.span)) hint = "; a comment begins with `#`";
  fail(expr.span, undefined_name(expr.text, known) + hint, Code::not_found);
}

Sym Elaborator::expression(const Expr& expr, const NamesPtr& names) {
  const Depth depth(this, expr.span);
  switch (expr.kind) {
    case Expr::Kind::name: return lookup(expr, names);
    case Expr::Kind::list: return list(expr, names);
    case Expr::Kind::tuple:
    case Expr::Kind::dict: return structure(expr, names);
    case Expr::Kind::call: return call(expr, names, nullptr, {});
    case Expr::Kind::pipe: {
      // Left-deep chains of stages: a loop, not recursion.
      std::vector<const Expr*> stages;
      const Expr* at = &expr;
      for (; at->kind == Expr::Kind::pipe; at = at->items[0].get()) stages.push_back(at);
      Sym value = expression(*at, names);
      Span span = at->span;
      for (size_t i = stages.size(); i-- > 0;) {
        value = call(*stages[i]->items[1], names, &value, span);
        span = stages[i]->span;
      }
      return value;
    }
    case Expr::Kind::field: return field(expr, names);
    case Expr::Kind::subscript: return subscript(expr, names);
    case Expr::Kind::unary: return unary(expr, names);
    case Expr::Kind::binary:
      return expr.text == "and" || expr.text == "or" ? short_circuit(expr, names)
                                                     : binary(expr, names);
    case Expr::Kind::conditional: return conditional(expr, names);
    case Expr::Kind::lambda: {
      Sym out;
      out.kind = Sym::Kind::function;
      // The tree is kept by programs_; the closure only points into it.
      out.closure = std::make_shared<const Closure>(Closure{ExprPtr(ExprPtr(), &expr), names, {}});
      return out;
    }
    case Expr::Kind::let: {
      NamesPtr inner = names;
      const Expr* at = &expr;
      for (; at->kind == Expr::Kind::let; at = at->items[1].get()) {
        const Sym value = expression(*at->items[0], inner);
        inner = bind(*at->patterns[0], value, std::move(inner));
      }
      return expression(*at, inner);
    }
    default: return literal(expr);
  }
}

Sym Elaborator::closure_call(const Closure& closure, std::vector<Argument> arguments, Span span) {
  if (!closure.lambda) return call_named(closure.name, std::move(arguments), span);
  const Depth depth(this, span);
  const Expr& lambda = *closure.lambda;
  const std::string what = closure.name.empty() ? "the function" : closure.name;
  // A seed given to a function seeds the random ops in it.
  const uint64_t seed = seed_, occurrence = occurrence_;
  bool seeded = false;
  const bool takes_seed =
      std::ranges::any_of(lambda.patterns, [](const PatternPtr& p) { return p->name == "seed"; });
  if (!takes_seed) {
    const auto it = std::ranges::find(arguments, "seed", &Argument::key);
    if (it != arguments.end()) {
      seed_ =
          static_cast<uint64_t>(attribute(it->sym, Param::Kind::integer, it->span, false).as_int());
      occurrence_ = 0;
      seeded = true;
      arguments.erase(it);
    }
  }
  const size_t wanted = lambda.patterns.size();
  std::vector<Sym> values(wanted);
  std::vector<bool> set(wanted, false);
  std::vector<Sym> positional;
  for (const Argument& a : arguments) {
    if (a.key.empty()) {
      positional.push_back(a.sym);
      continue;
    }
    size_t at = 0;
    while (at < wanted && !(lambda.patterns[at]->kind == Pattern::Kind::name &&
                            lambda.patterns[at]->name == a.key))
      ++at;
    if (at == wanted) fail(a.span, what + " has no argument `" + a.key + "`");
    values[at] = a.sym;
    set[at] = true;
  }
  if (positional.size() == 1 && wanted > 1 &&
      positional[0].kind == Sym::Kind::tuple) {  // f((a, b)) is f(a, b)
    positional = std::vector<Sym>(positional[0].items);
  } else if (positional.size() > 1 && wanted == 1) {
    positional = {Sym::tuple(std::move(positional))};
  }
  if (positional.size() > wanted) {
    fail(span, what + " takes " + std::to_string(wanted) + " argument" + (wanted == 1 ? "" : "s") +
                   ", " + std::to_string(positional.size()) + " given");
  }
  for (size_t i = 0; i < positional.size(); ++i) {
    if (set[i]) fail(span, what + ": argument `" + lambda.patterns[i]->name + "` is given twice");
    values[i] = std::move(positional[i]);
    set[i] = true;
  }
  NamesPtr names = closure.names;
  for (size_t i = 0; i < wanted; ++i) {
    if (!set[i]) {
      if (!lambda.patterns[i]->default_value) {
        fail(span, what + ": argument " +
                       (lambda.patterns[i]->name.empty() ? std::to_string(i + 1)
                                                         : "`" + lambda.patterns[i]->name + "`") +
                       " is missing");
      }
      values[i] = expression(*lambda.patterns[i]->default_value, closure.names);
    }
    names = bind(*lambda.patterns[i], values[i], std::move(names));
  }
  Sym out = expression(*lambda.items[0], names);
  if (seeded) {
    seed_ = seed;
    occurrence_ = occurrence;
  }
  return out;
}

}  // namespace penstock
