#include "plan/name_check.h"

#include <algorithm>

#include "plan/builtin_names.h"
#include "plan/node.h"

namespace penstock {
namespace {

class NameCheck {
 public:
  explicit NameCheck(std::vector<std::string> known) : names_(std::move(known)) {}

  std::vector<Diagnostic> run(const Program& program) {
    for (const Statement& s : program.statements) {
      if (s.value) expression(*s.value);
      if (s.pattern) add_bound_names(*s.pattern, &names_);
    }
    if (program.result) expression(*program.result);
    return std::move(found_);
  }

 private:
  void fail(Span span, const std::string& message, Code code) {
    std::string where;
    for (const std::string& stage : stages_) where += stage + ": ";
    found_.push_back({span, where + message, code});
  }

  bool in_scope(const std::string& name) const {
    return std::ranges::find(names_, name) != names_.end();
  }

  // Chains that lean to the left may be ten thousand long: down in a loop, then up again.
  void expression(const Expr& top) {
    std::vector<const Expr*> chain{&top};
    while (const Expr* left = left_of(*chain.back())) chain.push_back(left);
    for (size_t i = chain.size(); i-- > 0;) beside_left(*chain[i]);
  }

  static const Expr* left_of(const Expr& e) {
    switch (e.kind) {
      case Expr::Kind::pipe:
      case Expr::Kind::binary:
      case Expr::Kind::field:
      case Expr::Kind::subscript: return e.items[0].get();
      case Expr::Kind::call: return e.operand->kind == Expr::Kind::name ? nullptr : e.operand.get();
      default: return nullptr;
    }
  }

  // All of an expression but its left side.
  void beside_left(const Expr& e) {
    switch (e.kind) {
      case Expr::Kind::name: variable(e); break;
      case Expr::Kind::pipe:
        if (const Expr* operand = left_of(*e.items[1])) expression(*operand);
        call(*e.items[1], true);
        break;
      case Expr::Kind::call: call(e, false); break;
      case Expr::Kind::binary: expression(*e.items[1]); break;
      case Expr::Kind::field: break;
      case Expr::Kind::subscript:
        for (const Subscript& s : e.subscripts) {
          for (const ExprPtr& part : {s.index, s.begin, s.end, s.step}) {
            if (part) expression(*part);
          }
        }
        break;
      case Expr::Kind::lambda: lambda(e); break;
      case Expr::Kind::let: let(e); break;
      default:
        for (const ExprPtr& item : e.items) expression(*item);
        for (const Entry& entry : e.entries) expression(*entry.value);
    }
  }

  void lambda(const Expr& e) {
    for (const PatternPtr& p : e.patterns) {
      if (p->default_value) expression(*p->default_value);
    }
    const size_t outer = names_.size();
    for (const PatternPtr& p : e.patterns) add_bound_names(*p, &names_);
    expression(*e.items[0]);
    names_.resize(outer);
  }

  void let(const Expr& e) {
    const size_t outer = names_.size();
    const Expr* at = &e;
    for (; at->kind == Expr::Kind::let; at = at->items[1].get()) {
      expression(*at->items[0]);
      add_bound_names(*at->patterns[0], &names_);
    }
    expression(*at);
    names_.resize(outer);
  }

  void variable(const Expr& e) {
    if (in_scope(e.text) || parse_dtype(e.text) || OpRegistry::instance().find(e.text)) return;
    fail(e.span, undefined_name(e.text, names_), Code::not_found);
  }

  void call(const Expr& e, bool piped) {
    const std::string name = e.operand->kind == Expr::Kind::name ? e.operand->text : "";
    const bool built_in = !name.empty() && !in_scope(name);
    const OperatorDef* stage = built_in ? OperatorRegistry::instance().find(name) : nullptr;
    if (stage && stage->internal) stage = nullptr;
    const OpDef* op = built_in ? OpRegistry::instance().find(plain_op_name(name)) : nullptr;
    if (built_in && !stage && !op && !is_special_call(name) && !parse_dtype(name))
      fail(e.operand->span, no_such_call(name, piped, names_), Code::not_found);
    for (const Entry& entry : e.entries) {
      const bool function = stage && entry.value->kind == Expr::Kind::lambda;
      if (function) stages_.push_back(name);
      const bool policy = stage && entry.kind == Entry::Kind::keyed && entry.key == "on_error";
      if (policy) {
        failure_policy(*entry.value);
      } else {
        expression(*entry.value);
      }
      if (function) stages_.pop_back();
      if (entry.kind == Entry::Kind::keyed && !policy) argument(name, entry, stage, op);
    }
  }

  // skip(...) and replace(...) are not the calls of these names.
  void failure_policy(const Expr& policy) {
    if (policy.kind != Expr::Kind::call) return;
    for (const Entry& entry : policy.entries) expression(*entry.value);
  }

  // A name may be that of a stage and of an op: the argument has to be known to neither.
  void argument(const std::string& name, const Entry& entry, const OperatorDef* stage,
                const OpDef* op) {
    if (!stage && !op) return;
    std::vector<std::string> known;
    if (stage) {
      for (const Param& p : stage->params) known.push_back(p.name);
      if (!stage->reader_param.empty()) known.push_back(stage->reader_param);
    }
    if (op) {
      for (const Param& p : op->params) known.push_back(p.name);
    }
    if (std::ranges::find(known, entry.key) != known.end()) return;
    fail(entry.value->span,
         name + ": there is no argument `" + entry.key + "`" + did_you_mean(entry.key, known),
         Code::invalid_argument);
  }

  std::vector<std::string> names_;   // in scope; inner ones behind
  std::vector<std::string> stages_;  // around the expression, for messages
  std::vector<Diagnostic> found_;
};

}  // namespace

void add_bound_names(const Pattern& pattern, std::vector<std::string>* names) {
  if (pattern.kind == Pattern::Kind::name) names->push_back(pattern.name);
  for (const PatternPtr& item : pattern.items) add_bound_names(*item, names);
  if (pattern.rest) names->push_back(*pattern.rest);
}

std::vector<Diagnostic> check_names(const Program& program, const std::vector<std::string>& known) {
  return NameCheck(known).run(program);
}

}  // namespace penstock
