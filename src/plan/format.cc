#include "plan/format.h"

#include <algorithm>
#include <utility>

#include "plan/comments.h"
#include "plan/format_expression.h"
#include "plan/format_literal.h"
#include "plan/layout.h"
#include "plan/lexer.h"

namespace penstock {
namespace {

constexpr int line_width = 100;

class ProgramFormatter {
 public:
  explicit ProgramFormatter(const Program& program)
      : program_(program), source_(program.source.get()), expressions_(comments_) {
    if (source_) comments_ = Comments(source_, tokenize(*source_).comments);
  }

  std::string run() {
    for (const Statement& statement : program_.statements) {
      begin_line(statement.span, false);
      put(statement_layout(statement));
    }
    if (program_.result) {
      begin_line(program_.result->span, !program_.statements.empty());
      put(result_layout(*program_.result));
    }
    put_comments(comments_.take_rest());
    if (!out_.empty()) out_ += '\n';
    return std::move(out_);
  }

 private:
  Layout statement_layout(const Statement& statement) {
    if (statement.kind == Statement::Kind::import_file) {
      return text_layout("import " + quote_text(statement.path));
    }
    const bool is_param = statement.kind == Statement::Kind::param;
    Layout out = concat(text_layout(is_param ? "param " : "let "));
    out.add(expressions_.pattern(*statement.pattern)).add(text_layout(" = "));
    out.add(expressions_.value(*statement.value));
    return out;
  }

  Layout result_layout(const Expr& result) {
    if (!looks_like_statement(result)) return expressions_.expression(result, {}, true);
    return concat(text_layout("("), expressions_.expression(result), text_layout(")"));
  }

  // What begins with `let` or `import` would be read as a statement.
  static bool looks_like_statement(const Expr& result) {
    const Expr* first = &result;
    for (;;) {
      const bool chain = first->kind == Expr::Kind::pipe || first->kind == Expr::Kind::binary ||
                         first->kind == Expr::Kind::field || first->kind == Expr::Kind::subscript;
      if (first->kind == Expr::Kind::call) {
        first = first->operand.get();
      } else if (chain) {
        first = first->items[0].get();
      } else {
        break;
      }
    }
    if (first->kind == Expr::Kind::lambda && first->patterns.size() == 1) {
      return first->patterns[0]->name == "import";
    }
    return result.kind == Expr::Kind::let ||
           (first->kind == Expr::Kind::name && first->text == "import");
  }

  void put(const Layout& layout) { out_ += print_layout(layout, line_width, 0); }

  // Ends the line before and puts the comments that stand before `next`. Blank lines of the source
  // stay, one at most; a program without source has one where `blank_without_source` says so.
  void begin_line(Span next, bool blank_without_source) {
    put_comments(comments_.take_before(next));
    if (out_.empty()) return;
    const bool known = source_ && next.source == source_;
    out_ += (known ? blank_before(next.begin) : blank_without_source) ? "\n\n" : "\n";
  }

  void put_comments(const Comments::Taken& taken) {
    for (const std::string& comment : taken.trailing) out_ += (out_.empty() ? "" : "  ") + comment;
    for (const Comment& comment : taken.own_lines) {
      if (!out_.empty()) out_ += blank_before(comment.begin) ? "\n\n" : "\n";
      out_ += comments_.text(comment);
    }
  }

  // Parentheses that open here are part of the expression.
  bool blank_before(uint32_t offset) const {
    const std::string& text = source_->text;
    int ends = 0;
    for (size_t i = std::min<size_t>(offset, text.size()); i-- > 0;) {
      if (text[i] == '\n') ++ends;
      const char c = text[i];
      if (c != '\n' && c != ' ' && c != '\t' && c != '\r' && c != '(') break;
    }
    return ends > 1;
  }

  const Program& program_;
  const Source* source_;
  Comments comments_;
  ExpressionFormatter expressions_;
  std::string out_;
};

}  // namespace

std::string format_program(const Program& program) { return ProgramFormatter(program).run(); }

std::string format_expression(const Expr& expr, int width, int indent) {
  Comments none;
  return print_layout(ExpressionFormatter(none).expression(expr), width, indent);
}

}  // namespace penstock
