// C++ lambdas over values become lambdas of the pipe language.
//
// Values form a graph: what is used twice must be computed once (it may draw at random), and what
// was made outside a nested lambda must not move into it. So each lambda being recorded remembers
// the expressions made meanwhile, and turns those that are shared, or used in a lambda inside, into
// lets.

#include "penstock/function.h"

#include <atomic>
#include <cmath>
#include <unordered_map>
#include <unordered_set>

#include "api/recorded.h"
#include "functions/op.h"
#include "plan/diagnostic.h"
#include "plan/format.h"
#include "plan/parser.h"
#include "plan/syntax.h"

namespace penstock {
namespace {

struct Frame {
  std::unordered_set<const Expr*> made;
  std::vector<ExprPtr> alive;  // addresses are not used again while recording
};

thread_local std::vector<Frame> frames;

ExprPtr record(Expr expr) {
  ExprPtr out = std::make_shared<const Expr>(std::move(expr));
  if (!frames.empty()) {
    frames.back().made.insert(out.get());
    frames.back().alive.push_back(out);
  }
  return out;
}

ExprPtr literal(Expr expr) { return std::make_shared<const Expr>(std::move(expr)); }

Expr of_kind(Expr::Kind kind, std::string text = {}) {
  Expr out;
  out.kind = kind;
  out.text = std::move(text);
  return out;
}

ExprPtr name_expr(const std::string& text) { return literal(of_kind(Expr::Kind::name, text)); }

ExprPtr negated(Expr positive) {
  Expr out = of_kind(Expr::Kind::unary, "-");
  out.items.push_back(literal(std::move(positive)));
  return literal(std::move(out));
}

ExprPtr float_expr(double value, const std::string& spelling) {
  Expr out = of_kind(Expr::Kind::floating);
  out.float_value = std::fabs(value);
  out.spelling = spelling;
  return std::signbit(value) && !std::isnan(value) ? negated(std::move(out))
                                                   : literal(std::move(out));
}

// The argument of a lambda that is being recorded is named x@17, after the lambda's number, so that
// it is no other lambda's. The finished lambda has a plain x.
constexpr char kTag = '@';
constexpr std::string_view kArgumentNames = "xyzw";

// The expression; Value's constructors set it, only a move takes it away.
const ExprPtr& expr_of(const Value& value) {
  if (!value.expr()) throw Error(Code::failed_precondition, "Value: was moved from");
  return value.expr();
}

// Calls f(child, inside a nested lambda) for each child, which f may replace unless e is const.
template <typename E, typename F>
void for_children(E& e, const F& f) {
  const bool inside = e.kind == Expr::Kind::lambda;
  if (e.operand && e.operand->kind != Expr::Kind::name) f(e.operand, inside);
  for (auto& item : e.items) f(item, inside);
  for (auto& entry : e.entries) {
    if (entry.value) f(entry.value, inside);
  }
  for (auto& s : e.subscripts) {
    for (auto* part : {&s.index, &s.begin, &s.end, &s.step}) {
      if (*part) f(*part, inside);
    }
  }
}

class Binder {
 public:
  // `tag` ends the names of the lambda's arguments.
  Binder(const Frame& frame, std::string prefix, std::string tag)
      : frame_(frame), prefix_(std::move(prefix)), tag_(std::move(tag)) {}

  // `body` with lets for what is shared, and the arguments' plain names.
  ExprPtr bind(const ExprPtr& body) {
    count(body, false);
    ExprPtr out = rewrite(body);
    for (auto let = lets_.rbegin(); let != lets_.rend(); ++let) {
      Expr e = of_kind(Expr::Kind::let);
      auto pattern = std::make_shared<Pattern>();
      pattern->name = let->first;
      e.patterns.push_back(std::move(pattern));
      e.items = {let->second, std::move(out)};
      out = literal(std::move(e));
    }
    return out;
  }

 private:
  void count(const ExprPtr& e, bool inside) {
    int& uses = uses_[e.get()];
    // A value of this lambda that a lambda inside uses gets a name here. Its parts are then used
    // once, in this lambda; naming them as well would compute both sides of its conditions.
    const bool nameable = frame_.made.contains(e.get()) && e->kind != Expr::Kind::lambda;
    // Seen before: its children are counted already, but perhaps not as used inside.
    const bool again = uses > 0 && (nameable || !inside || inside_.contains(e.get()));
    uses += inside ? 2 : 1;
    if (again) return;
    if (nameable) inside = false;
    if (inside) inside_.insert(e.get());
    Expr copy = *e;
    for_children(copy, [&](ExprPtr& child, bool nested) { count(child, inside || nested); });
  }

  bool wants_name(const Expr& e) const {
    const auto uses = uses_.find(&e);
    return uses != uses_.end() && uses->second > 1 && frame_.made.contains(&e) &&
           e.kind != Expr::Kind::lambda;
  }

  ExprPtr rewrite(const ExprPtr& e) {
    if (e->kind == Expr::Kind::name) {
      const bool own = e->text.ends_with(tag_);
      return own ? name_expr(e->text.substr(0, e->text.size() - tag_.size())) : e;
    }
    if (const auto done = done_.find(e.get()); done != done_.end()) return done->second;
    Expr copy = *e;
    bool changed = false;
    for_children(copy, [&](ExprPtr& child, bool) {
      ExprPtr made = rewrite(child);
      changed |= made != child;
      child = std::move(made);
    });
    ExprPtr out = changed ? literal(std::move(copy)) : e;
    if (wants_name(*e)) {
      const std::string name = prefix_ + std::to_string(lets_.size());
      lets_.emplace_back(name, out);
      out = name_expr(name);
    }
    done_.emplace(e.get(), out);
    return out;
  }

  const Frame& frame_;
  const std::string prefix_, tag_;
  std::unordered_map<const Expr*, int> uses_;
  std::unordered_set<const Expr*> inside_;
  std::unordered_map<const Expr*, ExprPtr> done_;
  std::vector<std::pair<std::string, ExprPtr>> lets_;
};

std::vector<Entry> entries_of(const std::vector<Value>& args, const Named& named) {
  std::vector<Entry> out;
  for (const Value& a : args) {
    Entry e;
    e.value = expr_of(a);
    out.push_back(std::move(e));
  }
  for (const auto& [key, value] : named) {
    Entry e;
    e.kind = Entry::Kind::keyed;
    e.key = key;
    e.value = expr_of(value);
    out.push_back(std::move(e));
  }
  return out;
}

}  // namespace

Value::Value(bool is_signed, bool negative, uint64_t bits) {
  Expr e = of_kind(Expr::Kind::integer);
  negative = negative && is_signed;
  e.integer_value = negative ? 0 - bits : bits;
  e.spelling = std::to_string(e.integer_value);
  expr_ = negative ? negated(std::move(e)) : literal(std::move(e));
}

Value::Value(bool value) {
  Expr e = of_kind(Expr::Kind::boolean);
  e.bool_value = value;
  expr_ = literal(std::move(e));
}

Value::Value(double value) : expr_(float_expr(value, format_float(std::fabs(value)))) {}

// 0.1f is 0.1, not what it rounds to.
Value::Value(float value) {
  const std::string text = format_float(std::fabs(value));
  const double wide = std::isfinite(value) ? std::stod(text) : static_cast<double>(value);
  expr_ = float_expr(std::signbit(value) ? -wide : wide, text);
}

Value::Value(const std::string& text) : expr_(literal(of_kind(Expr::Kind::text, text))) {}
Value::Value(const char* text) : Value(std::string(text)) {}

Value Value::operator[](const std::string& field) const { return (*this)[Value(field)]; }
Value Value::operator[](const char* field) const { return (*this)[Value(field)]; }
Value Value::operator[](int index) const { return (*this)[Value(index)]; }

Value Value::operator[](const Value& index) const {
  Expr e = of_kind(Expr::Kind::subscript);
  e.items.push_back(expr_of(*this));
  Subscript s;
  s.index = expr_of(index);
  e.subscripts.push_back(std::move(s));
  return Value(record(std::move(e)));
}

Value subscript(const Value& x, const std::vector<AxisIndex>& pieces) {
  const auto part = [](const std::optional<Value>& value) {
    return value ? expr_of(*value) : ExprPtr();
  };
  Expr e = of_kind(Expr::Kind::subscript);
  e.items.push_back(expr_of(x));
  for (const AxisIndex& piece : pieces) {
    Subscript& s = e.subscripts.emplace_back();
    switch (piece.kind) {
      case AxisIndex::Kind::ellipsis: s.kind = Subscript::Kind::ellipsis; break;
      case AxisIndex::Kind::new_axis: s.index = expr_of(none()); break;
      case AxisIndex::Kind::index:
        if (!piece.index) throw Error(Code::invalid_argument, "subscript: an index has no value");
        s.index = expr_of(*piece.index);
        break;
      case AxisIndex::Kind::slice:
        s.kind = Subscript::Kind::slice;
        s.begin = part(piece.begin);
        s.end = part(piece.end);
        s.step = part(piece.step);
        break;
    }
  }
  return Value(record(std::move(e)));
}

Value Value::binary(const char* op, const Value& a, const Value& b) {
  Expr e = of_kind(Expr::Kind::binary, op);
  e.items = {expr_of(a), expr_of(b)};
  return Value(record(std::move(e)));
}

Value Value::operator-() const {
  Expr e = of_kind(Expr::Kind::unary, "-");
  e.items = {expr_of(*this)};
  return Value(record(std::move(e)));
}

Value Value::operator!() const {
  Expr e = of_kind(Expr::Kind::unary, "not");
  e.items = {expr_of(*this)};
  return Value(record(std::move(e)));
}

Value call(const std::string& op, std::vector<Value> args, Named named) {
  Expr e = of_kind(Expr::Kind::call);
  e.operand = name_expr(op);
  e.entries = entries_of(args, named);
  return Value(record(std::move(e)));
}

Value call_own(std::shared_ptr<const OpDef> op, std::vector<Value> args, const Named& named) {
  Expr e = of_kind(Expr::Kind::call);
  e.operand = name_expr(op->name);
  e.own_op = std::move(op);
  e.entries = entries_of(args, named);
  return Value(record(std::move(e)));
}

Value cond(const Value& condition, const Value& then_value, const Value& else_value) {
  Expr e = of_kind(Expr::Kind::conditional);
  e.items = {expr_of(condition), expr_of(then_value), expr_of(else_value)};
  return Value(record(std::move(e)));
}

Value dict(Named items) {
  Expr e = of_kind(Expr::Kind::dict);
  e.entries = entries_of({}, items);
  return Value(record(std::move(e)));
}

Value tuple(std::vector<Value> items) {
  Expr e = of_kind(Expr::Kind::tuple);
  e.entries = entries_of(items, {});
  return Value(record(std::move(e)));
}

Value list(std::vector<Value> items) {
  Expr e = of_kind(Expr::Kind::list);
  e.entries = entries_of(items, {});
  return Value(literal(std::move(e)));  // may have to stay a list of constants
}

Value name(const std::string& text) { return Value(name_expr(text)); }
Value none() { return Value(literal(of_kind(Expr::Kind::none))); }
Value automatic() { return Value(literal(of_kind(Expr::Kind::automatic))); }

void check_own_arguments(const Expr& tree) {
  std::vector<const Expr*> left{&tree};
  std::unordered_set<const Expr*> seen;
  while (!left.empty()) {
    const Expr& e = *left.back();
    left.pop_back();
    if (!seen.insert(&e).second) continue;
    for_children(e, [&](const ExprPtr& child, bool) { left.push_back(child.get()); });
    const size_t tag = e.kind == Expr::Kind::name ? e.text.find(kTag) : std::string::npos;
    if (tag == std::string::npos) continue;
    const std::string name = e.text.substr(0, tag);
    throw Error(Code::invalid_argument,
                "`" + name + "`, argument " + std::to_string(kArgumentNames.find(name[0]) + 1) +
                    " of another function, is used outside of it: a value means something only "
                    "in the function that it was made in; make what is needed of it part of the "
                    "element, or compute it anew here");
  }
}

UserFunction::UserFunction(const char* text) : UserFunction(std::string(text)) {}

UserFunction::UserFunction(const std::string& text) : text_(text) {}

UserFunction::UserFunction(int arity, const std::function<Value(const std::vector<Value>&)>& body) {
  static std::atomic<uint64_t> recorded{0};
  const std::string tag = kTag + std::to_string(++recorded);
  const std::string level = frames.empty() ? "" : std::to_string(frames.size());
  Expr lambda = of_kind(Expr::Kind::lambda);
  std::vector<Value> parameters;
  for (int i = 0; i < arity; ++i) {
    auto pattern = std::make_shared<Pattern>();
    pattern->name = kArgumentNames[static_cast<size_t>(i)] + level;
    parameters.push_back(Value(name_expr(pattern->name + tag)));
    lambda.patterns.push_back(std::move(pattern));
  }
  struct Recording {
    Recording() { frames.emplace_back(); }
    ~Recording() { frames.pop_back(); }
  };
  const Recording recording;
  const Value result = body(parameters);
  lambda.items.push_back(Binder(frames.back(), "v" + level + "_", tag).bind(expr_of(result)));
  lambda_ = literal(std::move(lambda));
}

UserFunction UserFunction::record(int arity,
                                  const std::function<Value(const std::vector<Value>&)>& body) {
  if (arity < 0 || arity > static_cast<int>(kArgumentNames.size())) {
    throw Error(Code::invalid_argument, "a function takes at most " +
                                            std::to_string(kArgumentNames.size()) +
                                            " arguments: " + std::to_string(arity));
  }
  return {arity, body};
}

Value UserFunction::value() const {
  if (lambda_) return Value(lambda_);
  struct Parsed {
    SourcePtr source;
    ExprPtr tree;
  };
  auto parsed = std::make_shared<Parsed>();
  parsed->source = std::make_shared<const Source>(Source{"function", text_});
  parsed->tree = parse_expression(parsed->source);
  const Expr* tree = parsed->tree.get();
  return Value(ExprPtr(std::move(parsed), tree));  // the spans in it point into the text
}

}  // namespace penstock
