// The recursive descent parser. Statements are in parser.cc, operators in parse_expression.cc,
// brackets and patterns in parse_brackets.cc.
//
// Newlines matter only outside brackets, where an operator, a call or an index has to stand on the
// line of what it follows.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plan/diagnostic.h"
#include "plan/lexer.h"
#include "plan/syntax.h"

namespace penstock {

std::shared_ptr<Expr> new_node(Expr::Kind kind, Span span);

class Parser {
 public:
  explicit Parser(SourcePtr source);

  Program program();
  ExprPtr only_expression();

 private:
  struct Abandon {};  // thrown behind a recorded error, caught at the border of a statement

  // Counts nested forms: everything recursive holds one.
  class Nesting {
   public:
    explicit Nesting(Parser& parser);
    ~Nesting() { --parser_.depth_; }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;

   private:
    Parser& parser_;
  };

  // Tokens.
  const Token& peek() const { return tokens_.all[next_]; }
  std::string_view text(const Token& token) const;
  bool is_mark(const Token& token, std::string_view mark) const;
  bool at(std::string_view mark) const { return is_mark(peek(), mark); }
  bool at_word(std::string_view word) const;
  bool at_end() const { return peek().kind == Token::Kind::end; }
  bool continues(const Token& token) const { return brackets_ > 0 || !token.newline_before; }
  const Token& take();
  bool take_if(std::string_view mark);
  uint32_t last_end() const { return next_ == 0 ? 0 : tokens_.all[next_ - 1].end; }
  Span span_from(uint32_t begin) const { return {source_.get(), begin, last_end()}; }
  Span span_of(const Token& token) const;

  // Errors.
  void report(Span span, std::string message);
  [[noreturn]] void fail(const Token& found, std::string message);
  // Fails at the next token: with the right form if a habit of another language stands there.
  [[noreturn]] void fail_here(std::string message);
  [[noreturn]] void fail_limit(const Token& found, std::string message);
  [[noreturn]] void fail_expected(std::string_view what);
  [[noreturn]] void fail_unclosed(const Token& open, std::string_view close, bool comma);
  std::string describe(const Token& token) const;
  void throw_errors();

  // Statements.
  void statement(Program& program);
  void result(Program& program);
  Statement import_file();
  Statement param();
  Statement let_statement();
  void end_of_statement();
  void recover();
  bool at_border() const;

  // Expressions. With `stop_at_stage` the expression is an else side, or ends one.
  ExprPtr expression(bool stop_at_stage = false);
  ExprPtr let_expression(bool stop_at_stage);
  ExprPtr lambda(bool stop_at_stage);
  ExprPtr conditional();
  ExprPtr stages(ExprPtr left, uint32_t begin);
  ExprPtr stage();
  ExprPtr operators(int loosest);
  ExprPtr negation(int loosest);
  ExprPtr unary();
  ExprPtr power();
  ExprPtr postfix();
  ExprPtr primary();
  ExprPtr word();
  bool lambda_ahead() const;
  int infix_level() const;
  void grow_chain(uint32_t& length, const Token& where);

  // Brackets and patterns.
  ExprPtr parenthesised();
  ExprPtr list();
  ExprPtr dict();
  ExprPtr call(ExprPtr callee, uint32_t begin);
  ExprPtr subscripts(ExprPtr base, uint32_t begin);
  Entry element();
  Entry argument();
  Entry dict_entry();
  Subscript subscript();
  PatternPtr pattern();
  PatternPtr name_pattern();
  PatternPtr tuple_pattern();
  PatternPtr dict_pattern();
  void dict_pattern_entry(Pattern& pattern);
  std::vector<PatternPtr> parameters();
  PatternPtr parameter();
  std::string key();
  const Token& binding_name();

  // Entries up to the closing mark, which is taken; true when a comma stood before it.
  template <class ParseEntry>
  bool comma_list(const Token& open, std::string_view close, ParseEntry parse_entry) {
    ++brackets_;
    bool comma = false;
    while (!at(close)) {
      if (at_end()) fail_unclosed(open, close, false);
      parse_entry();
      comma = take_if(",");
      if (!comma && !at(close)) fail_unclosed(open, close, true);
    }
    --brackets_;
    take();
    return comma;
  }

  SourcePtr source_;
  Tokens tokens_;
  std::vector<Diagnostic> errors_;
  size_t next_ = 0;
  int brackets_ = 0;
  int depth_ = 0;
  uint32_t chain_ = 0;  // first children below the expression that was parsed last
};

}  // namespace penstock
