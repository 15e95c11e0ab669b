// An expression as a layout: parentheses where precedence asks for them, comments where they stood.
#pragma once

#include <string>

#include "plan/comments.h"
#include "plan/layout.h"
#include "plan/syntax.h"

namespace penstock {

class ExpressionFormatter {
 public:
  // What surrounds an expression.
  struct Place {
    int level = 0;           // forms that bind looser need parentheses
    bool else_side = false;  // a `|` here would end the else side around it
    bool left_of_stage = false;
    bool base = false;  // of a call, a field or an index
  };

  explicit ExpressionFormatter(Comments& comments) : comments_(comments) {}

  Layout expression(const Expr& expr) { return expression(expr, {}); }
  Layout expression(const Expr& expr, Place place, bool stage_a_line = false);
  // Behind `=` or `:`; the lines of an expression that is broken at its top are indented.
  Layout value(const Expr& expr);
  Layout pattern(const Pattern& pattern);

 private:
  struct Link;
  Layout break_before(Span next, Layout plain);
  template <class SpanOf, class LayoutOf>
  Layout bracketed(const char* open, const char* close, Span whole, size_t count, SpanOf span_of,
                   LayoutOf layout_of, bool filled = false, bool last_comma = false);
  Layout leaf(const Expr& expr, bool else_side);
  void append_link(Layout& out, const Link& link, bool stage_a_line);
  Layout let(const Expr& expr, bool else_side);
  Layout lambda(const Expr& expr, bool else_side, bool in_call = false);
  Layout conditional(const Expr& expr);
  Layout parameters(const Expr& lambda);
  Layout entries(const Expr& expr, const char* open, const char* close);
  Layout entry(const Entry& entry, const char* separator);
  Layout arguments(const Expr& call);
  Layout subscripts(const Expr& expr);
  Layout subscript(const Subscript& piece);

  Comments& comments_;
};

}  // namespace penstock
