// Operators and the forms that stand only where an expression begins.
#include <array>
#include <cmath>

#include "plan/parser_state.h"

namespace penstock {
namespace {

constexpr uint32_t longest_chain = 10000;

struct Infix {
  std::string_view text;
  int level;  // the larger, the tighter
};
constexpr int not_level = 3;
constexpr int comparison_level = 4;
constexpr std::array<Infix, 14> infixes = {{{"or", 1},
                                            {"and", 2},
                                            {"==", comparison_level},
                                            {"!=", comparison_level},
                                            {"<", comparison_level},
                                            {"<=", comparison_level},
                                            {">", comparison_level},
                                            {">=", comparison_level},
                                            {"+", 5},
                                            {"-", 5},
                                            {"*", 6},
                                            {"/", 6},
                                            {"//", 6},
                                            {"%", 6}}};

bool is_scalar_literal(const Expr& expr) {
  switch (expr.kind) {
    case Expr::Kind::integer:
    case Expr::Kind::floating:
    case Expr::Kind::quantity:
    case Expr::Kind::text:
    case Expr::Kind::bytes:
    case Expr::Kind::boolean:
    case Expr::Kind::none:
    case Expr::Kind::automatic: return true;
    default: return false;
  }
}

}  // namespace

ExprPtr Parser::expression(bool stop_at_stage) {
  const Nesting nesting(*this);
  const uint32_t begin = peek().begin;
  ExprPtr expr;
  if (at_word("let")) {
    expr = let_expression(stop_at_stage);
  } else if (lambda_ahead()) {
    expr = lambda(stop_at_stage);
  } else {
    expr = at_word("if") ? conditional() : operators(0);
    if (!stop_at_stage) expr = stages(std::move(expr), begin);
  }
  if (at("->") && continues(peek())) {
    fail(peek(), "`->` needs its parameters before it, and stands where an expression begins: "
                 "put the function in parentheses");
  }
  return expr;
}

bool Parser::lambda_ahead() const {
  const Token& token = peek();
  size_t arrow = next_ + 1;
  if (is_mark(token, "(") || is_mark(token, "{")) {
    if (token.match < 0) return false;
    arrow = static_cast<size_t>(token.match) + 1;
  } else if (token.kind != Token::Kind::name) {
    return false;
  }
  return is_mark(tokens_.all[arrow], "->") && continues(tokens_.all[arrow]);
}

ExprPtr Parser::let_expression(bool stop_at_stage) {
  const uint32_t begin = take().begin;
  PatternPtr bound = pattern();
  if (!at("=") || !continues(peek())) fail_expected("`=` and a value: let name = value; result");
  take();
  ExprPtr value = expression();
  if (!at(";")) {
    const bool same_line = !peek().newline_before && !at_end();
    report(same_line ? span_of(peek()) : Span{source_.get(), last_end(), last_end()},
           "expected `;` behind the value of " +
               (bound->kind == Pattern::Kind::name ? "`" + bound->name + "`" : "this `let`") +
               ": inside an expression it is `let name = value; result`");
    throw Abandon{};
  }
  take();
  ExprPtr body = expression(stop_at_stage);
  auto expr = new_node(Expr::Kind::let, span_from(begin));
  expr->patterns.push_back(std::move(bound));
  expr->items = {std::move(value), std::move(body)};
  chain_ = 0;
  return expr;
}

ExprPtr Parser::lambda(bool stop_at_stage) {
  const uint32_t begin = peek().begin;
  std::vector<PatternPtr> taken;
  if (at("(")) {
    taken = parameters();
  } else {
    taken.push_back(pattern());
  }
  take();  // -> : lambda_ahead saw it
  ExprPtr body = expression(stop_at_stage);
  auto expr = new_node(Expr::Kind::lambda, span_from(begin));
  expr->patterns = std::move(taken);
  expr->items = {std::move(body)};
  chain_ = 0;
  return expr;
}

ExprPtr Parser::conditional() {
  const uint32_t begin = take().begin;
  ExprPtr condition = expression();
  if (!at_word("then")) fail_expected("`then` behind the condition of `if`");
  take();
  ExprPtr yes = expression();
  if (!at_word("else")) fail_expected("`else`: an `if` always has two sides");
  take();
  ExprPtr no = expression(true);
  auto expr = new_node(Expr::Kind::conditional, span_from(begin));
  expr->items = {std::move(condition), std::move(yes), std::move(no)};
  chain_ = 0;
  return expr;
}

void Parser::grow_chain(uint32_t& length, const Token& where) {
  if (++length > longest_chain) {
    fail_limit(where, "more than 10000 stages, operators or calls in one chain");
  }
}

ExprPtr Parser::stages(ExprPtr left, uint32_t begin) {
  uint32_t length = chain_;
  while (at("|")) {
    grow_chain(length, take());
    ExprPtr right = stage();
    auto expr = new_node(Expr::Kind::pipe, span_from(begin));
    expr->items = {std::move(left), std::move(right)};
    left = std::move(expr);
  }
  chain_ = length;
  return left;
}

ExprPtr Parser::stage() {
  const Token& first = peek();
  if (first.kind != Token::Kind::name || is_reserved(text(first))) {
    fail_expected("a stage behind `|`, as in | batch(32)");
  }
  ExprPtr expr = postfix();
  if (expr->kind == Expr::Kind::name) {
    fail(first, "a stage is a call: | " + expr->text + "()");
  }
  if (expr->kind != Expr::Kind::call) {
    report(expr->span, "a stage is a call; put what stands before `.` or `[` in parentheses");
    throw Abandon{};
  }
  if (infix_level() > 0) {
    fail(peek(),
         "a stage ends before " + describe(peek()) + "; put everything left of it in parentheses");
  }
  return expr;
}

// 0 when no operator stands here.
int Parser::infix_level() const {
  const Token& token = peek();
  const bool possible = token.kind == Token::Kind::mark || token.kind == Token::Kind::name;
  if (!possible || !continues(token)) return 0;
  const std::string_view here = text(token);
  for (const Infix& infix : infixes) {
    if (infix.text == here) return infix.level;
  }
  return 0;
}

ExprPtr Parser::operators(int loosest) {
  const uint32_t begin = peek().begin;
  ExprPtr left = at_word("not") ? negation(loosest) : unary();
  uint32_t length = chain_;
  bool compared = false;
  for (int level = infix_level(); level > 0 && level >= loosest; level = infix_level()) {
    if (level == comparison_level && compared) {
      fail(peek(), "comparisons do not chain; write `a < b and b < c`");
    }
    compared = level == comparison_level;
    const Token& op = take();
    grow_chain(length, op);
    ExprPtr right = operators(level + 1);
    auto expr = new_node(Expr::Kind::binary, span_from(begin));
    expr->text = std::string(text(op));
    expr->items = {std::move(left), std::move(right)};
    left = std::move(expr);
  }
  chain_ = length;
  return left;
}

ExprPtr Parser::negation(int loosest) {
  const Nesting nesting(*this);
  const Token& op = take();
  if (loosest > not_level) fail(op, "`not` binds looser than this operator: put it in parentheses");
  ExprPtr operand = operators(not_level);
  auto expr = new_node(Expr::Kind::unary, span_from(op.begin));
  expr->text = "not";
  expr->items = {std::move(operand)};
  chain_ = 0;
  return expr;
}

ExprPtr Parser::unary() {
  if (!at("-")) return power();
  const Nesting nesting(*this);
  const uint32_t begin = take().begin;
  ExprPtr operand = unary();
  auto expr = new_node(Expr::Kind::unary, span_from(begin));
  expr->text = "-";
  expr->items = {std::move(operand)};
  chain_ = 0;
  return expr;
}

ExprPtr Parser::power() {
  const uint32_t begin = peek().begin;
  ExprPtr base = postfix();
  if (!at("**") || !continues(peek())) return base;
  const Nesting nesting(*this);
  uint32_t length = chain_;
  grow_chain(length, take());
  ExprPtr exponent = unary();
  auto expr = new_node(Expr::Kind::binary, span_from(begin));
  expr->text = "**";
  expr->items = {std::move(base), std::move(exponent)};
  chain_ = length;
  return expr;
}

ExprPtr Parser::postfix() {
  const uint32_t begin = peek().begin;
  ExprPtr expr = primary();
  if (begin == expr->span.begin && is_scalar_literal(*expr)) return expr;
  uint32_t length = chain_;
  while (continues(peek())) {
    const Token& mark = peek();
    if (at("(")) {
      expr = call(std::move(expr), begin);
    } else if (at("[")) {
      expr = subscripts(std::move(expr), begin);
    } else if (at(".")) {
      take();
      if (peek().kind != Token::Kind::name) fail_expected("the name of a field behind `.`");
      const Token& name = take();
      auto field = new_node(Expr::Kind::field, span_from(begin));
      field->text = std::string(text(name));
      field->items = {std::move(expr)};
      expr = std::move(field);
    } else {
      break;
    }
    grow_chain(length, mark);
  }
  chain_ = length;
  return expr;
}

ExprPtr Parser::primary() {
  chain_ = 0;
  const Token& token = peek();
  auto literal = [&](Expr::Kind kind) {
    take();
    auto expr = new_node(kind, span_of(token));
    expr->integer_value = token.integer;
    expr->float_value = kind == Expr::Kind::integer ? 0 : token.number;
    return expr;
  };
  auto number = [&](Expr::Kind kind) {
    auto expr = literal(kind);
    expr->spelling = std::string(text(token));
    return expr;
  };
  auto with_value = [&](std::shared_ptr<Expr> expr) {
    expr->text = tokens_.values[token.value];
    return expr;
  };
  switch (token.kind) {
    case Token::Kind::integer: return number(Expr::Kind::integer);
    case Token::Kind::floating: return number(Expr::Kind::floating);
    case Token::Kind::quantity: return with_value(number(Expr::Kind::quantity));
    case Token::Kind::text: return with_value(literal(Expr::Kind::text));
    case Token::Kind::bytes: return with_value(literal(Expr::Kind::bytes));
    case Token::Kind::name: return word();
    default: break;
  }
  if (at("(")) return parenthesised();
  if (at("[")) return list();
  if (at("{")) return dict();
  if (at("**")) {
    fail(token, "`**` spreads only inside [...], (..., ...) and {...}");
  }
  if (at("+")) fail_here("there is no sign `+`");
  fail_expected("an expression");
}

ExprPtr Parser::word() {
  const std::string_view name = text(peek());
  const Span span = span_of(peek());
  if (!is_reserved(name)) {
    take();
    auto expr = new_node(Expr::Kind::name, span);
    expr->text = std::string(name);
    return expr;
  }
  std::shared_ptr<Expr> expr;
  if (name == "true" || name == "false") {
    expr = new_node(Expr::Kind::boolean, span);
    expr->bool_value = name == "true";
  } else if (name == "none") {
    expr = new_node(Expr::Kind::none, span);
  } else if (name == "auto") {
    expr = new_node(Expr::Kind::automatic, span);
  } else if (name == "inf" || name == "nan") {
    expr = new_node(Expr::Kind::floating, span);
    expr->spelling = std::string(name);
    expr->float_value = name == "inf" ? HUGE_VAL : NAN;
  } else if (name == "let" || name == "if") {
    fail(peek(), "`" + std::string(name) + "` stands only where an expression begins: put it in " +
                     "parentheses");
  } else {
    fail(peek(),
         "expected an expression, found `" + std::string(name) + "`, a word of the language");
  }
  take();
  return expr;
}

}  // namespace penstock
