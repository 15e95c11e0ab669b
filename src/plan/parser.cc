#include "plan/parser.h"

#include <algorithm>

#include "plan/habits.h"
#include "plan/parser_state.h"

namespace penstock {
namespace {

constexpr size_t largest_text = 1 << 20;
constexpr int deepest_nesting = 200;
constexpr size_t most_errors = 10;

}  // namespace

std::shared_ptr<Expr> new_node(Expr::Kind kind, Span span) {
  auto expr = std::make_shared<Expr>();
  expr->kind = kind;
  expr->span = span;
  return expr;
}

Parser::Parser(SourcePtr source) : source_(std::move(source)) {
  if (source_->text.size() > largest_text) {
    const Span begin{source_.get(), 0, 0};
    throw PipeError(
        begin, "the text is larger than 1 MiB: " + std::to_string(source_->text.size()) + " bytes");
  }
  tokens_ = tokenize(*source_);
  errors_ = tokens_.errors;
}

Parser::Nesting::Nesting(Parser& parser) : parser_(parser) {
  // The outermost expression is not nested in anything.
  if (parser.depth_ > deepest_nesting) {
    parser.fail_limit(parser.peek(), "nesting is deeper than " + std::to_string(deepest_nesting));
  }
  ++parser.depth_;
}

std::string_view Parser::text(const Token& token) const {
  return std::string_view(source_->text).substr(token.begin, token.end - token.begin);
}

bool Parser::is_mark(const Token& token, std::string_view mark) const {
  return token.kind == Token::Kind::mark && text(token) == mark;
}

bool Parser::at_word(std::string_view word) const {
  return peek().kind == Token::Kind::name && text(peek()) == word;
}

const Token& Parser::take() {
  const Token& token = peek();
  if (token.kind != Token::Kind::end) ++next_;
  return token;
}

bool Parser::take_if(std::string_view mark) {
  if (!at(mark)) return false;
  take();
  return true;
}

// The end of the text is shown behind the last token.
Span Parser::span_of(const Token& token) const {
  if (token.kind == Token::Kind::end) return {source_.get(), last_end(), last_end()};
  return {source_.get(), token.begin, token.end};
}

void Parser::report(Span span, std::string message) {
  errors_.push_back({span, std::move(message), Code::invalid_argument});
}

void Parser::fail(const Token& found, std::string message) {
  if (found.kind != Token::Kind::error) report(span_of(found), std::move(message));
  throw Abandon{};
}

// Whatever follows would be refused for the same reason: nothing more is read.
void Parser::fail_limit(const Token& found, std::string message) {
  report(span_of(found), std::move(message));
  next_ = tokens_.all.size() - 1;
  throw Abandon{};
}

void Parser::fail_here(std::string message) {
  if (peek().kind != Token::Kind::error) {
    if (auto form = foreign_form(source_->text, tokens_.all, next_, brackets_ > 0)) {
      // The same habit again is the same mistake.
      if (std::ranges::find(errors_, form->message, &Diagnostic::message) == errors_.end()) {
        report({source_.get(), tokens_.all[form->first].begin, tokens_.all[form->last].end},
               std::move(form->message));
      }
      throw Abandon{};
    }
  }
  fail(peek(), std::move(message));
}

void Parser::fail_expected(std::string_view what) {
  fail_here("expected " + std::string(what) + ", found " + describe(peek()));
}

void Parser::fail_unclosed(const Token& open, std::string_view close, bool comma) {
  const Position position = position_of(*source_, open.begin);
  const std::string expected = comma && !at_end() ? "`,` or `" : "`";
  fail_expected(expected + std::string(close) + "` to close `" + std::string(text(open)) + "` at " +
                std::to_string(position.line) + ":" + std::to_string(position.column));
}

std::string Parser::describe(const Token& token) const {
  if (token.kind == Token::Kind::end) return "the end of the text";
  if (token.kind == Token::Kind::text || token.kind == Token::Kind::bytes) return "a string";
  constexpr size_t longest = 24;
  std::string_view shown = text(token);
  if (shown.size() <= longest) return "`" + std::string(shown) + "`";
  return "`" + std::string(shown.substr(0, longest)) + "...`";
}

void Parser::throw_errors() {
  if (errors_.empty()) return;
  std::stable_sort(errors_.begin(), errors_.end(), [](const Diagnostic& a, const Diagnostic& b) {
    return a.span.begin < b.span.begin;
  });
  throw PipeError(std::move(errors_));
}

Program Parser::program() {
  Program program;
  program.source = source_;
  while (!at_end() && errors_.size() < most_errors) {
    if (take_if(";")) continue;
    const size_t begin = next_;
    try {
      statement(program);
      end_of_statement();
    } catch (const Abandon&) {
      if (next_ == begin) take();
      recover();
    }
  }
  throw_errors();
  return program;
}

ExprPtr Parser::only_expression() {
  brackets_ = 1;  // newlines mean nothing
  ExprPtr expr;
  try {
    expr = expression();
    if (!at_end()) fail(peek(), "expected the end of the expression, found " + describe(peek()));
  } catch (const Abandon&) {
  }
  throw_errors();
  return expr;
}

void Parser::statement(Program& program) {
  const bool is_statement = at_word("import") || at_word("param") || at_word("let");
  if (!is_statement) return result(program);
  if (program.result) {
    report(span_of(peek()), "`" + std::string(text(peek())) +
                                "` stands behind the result; statements come before it");
  }
  if (at_word("import")) {
    program.statements.push_back(import_file());
  } else if (at_word("param")) {
    program.statements.push_back(param());
  } else {
    program.statements.push_back(let_statement());
  }
}

void Parser::result(Program& program) {
  // After a mistake, a second result is a part of the first more often than not.
  if (program.result && errors_.empty()) {
    const Position first = position_of(*source_, program.result->span.begin);
    fail_here("the result stands at " + std::to_string(first.line) + ":" +
              std::to_string(first.column) + " already; a file ends with one expression");
  }
  program.result = expression();
}

Statement Parser::import_file() {
  Statement statement;
  statement.kind = Statement::Kind::import_file;
  const uint32_t begin = take().begin;
  if (peek().kind != Token::Kind::text) fail_expected("a file name in quotes after `import`");
  statement.path = tokens_.values[take().value];
  statement.span = span_from(begin);
  return statement;
}

Statement Parser::param() {
  Statement statement;
  statement.kind = Statement::Kind::param;
  const uint32_t begin = take().begin;
  statement.pattern = name_pattern();
  if (!at("=") || !continues(peek())) fail_expected("`=` and a value: param name = value");
  take();
  statement.value = expression();
  statement.span = span_from(begin);
  return statement;
}

Statement Parser::let_statement() {
  Statement statement;
  const uint32_t begin = take().begin;
  statement.pattern = pattern();
  if (!at("=") || !continues(peek())) fail_expected("`=` and a value: let name = value");
  take();
  statement.value = expression();
  statement.span = span_from(begin);
  return statement;
}

void Parser::end_of_statement() {
  if (at_end() || take_if(";") || peek().newline_before) return;
  if (at("=")) fail_here("a name is given with `let`: let name = value");
  fail_expected("the end of the line");
}

bool Parser::at_border() const {
  const Token& token = peek();
  if (token.kind == Token::Kind::end) return true;
  const bool first_column = token.begin == 0 || source_->text[token.begin - 1] == '\n';
  return first_column && !at(")") && !at("]") && !at("}") && !at_word("then") && !at_word("else");
}

// Goes on at the next line that begins at its first column; stages there are looked at too.
void Parser::recover() {
  while (errors_.size() < most_errors) {
    brackets_ = 0;
    while (!at_border()) take();
    if (!at("|")) return;
    try {
      chain_ = 0;
      stages(std::make_shared<Expr>(), peek().begin);
      end_of_statement();
      return;
    } catch (const Abandon&) {
    }
  }
}

Program parse_program(SourcePtr source) { return Parser(std::move(source)).program(); }

ExprPtr parse_expression(SourcePtr source) { return Parser(std::move(source)).only_expression(); }

}  // namespace penstock
