// Tree to canonical text.
#pragma once

#include <string>

#include "plan/syntax.h"

namespace penstock {

// The canonical print of a program: one stage a line, two spaces inside brackets that do not fit
// 100 columns, comments of the source kept, trailing newline. Printing is a fixed point:
// format(parse(format(p))) == format(p), and parse(format(p)) is the tree of p up to spans.
std::string format_program(const Program& program);

// An expression on one line when it fits `width` columns, else broken at brackets, stages, lets and
// conditionals; `indent` columns are already used by every line after the first.
std::string format_expression(const Expr& expr, int width = 100, int indent = 0);

// A string as a literal: "..." when it is valid UTF-8 without control bytes other than \n \t \r,
// else b"...".
std::string format_string_literal(std::string_view value);

// The shortest decimal that reads back as the same double (float: same float); always with a point
// or an exponent, inf, nan, -inf.
std::string format_float(double value);
std::string format_float(float value);

// Structural equality, spans and number spellings aside.
bool same_tree(const Expr& a, const Expr& b);

}  // namespace penstock
