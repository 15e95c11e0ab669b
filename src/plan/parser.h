// Text to tree.
#pragma once

#include <string_view>

#include "plan/syntax.h"

namespace penstock {

// Throws PipeError with all errors found (at most ten). Refuses texts over 1 MiB and nesting deeper
// than 200 or chains (stages, operators, calls of calls) of more than 10 000: recursion that follows
// first children (Expr::items[0], operand) in a loop stays shallow. Any bytes are allowed as input. The tree holds pointers to *source: keep it alive
// (Program does).
Program parse_program(SourcePtr source);

// One expression and nothing else (a lambda, a stage argument).
ExprPtr parse_expression(SourcePtr source);

}  // namespace penstock
