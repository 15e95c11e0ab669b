// Text to tree.
#pragma once

#include <string_view>

#include "plan/syntax.h"

namespace penstock {

// Throws PipeError with all errors found (at most ten). Refuses texts over 1 MiB, nesting deeper
// than 200 and chains (stages, operators, calls of calls) of more than 10 000 links: recursion that
// follows first children (Expr::items[0], operand) in a loop stays shallow. Any bytes are allowed
// as input. The tree holds pointers to *source: keep it alive (Program does). The spans of a
// PipeError point there too; its message is text of its own.
Program parse_program(SourcePtr source);

// One expression and nothing else (a lambda, a stage argument).
ExprPtr parse_expression(SourcePtr source);

}  // namespace penstock
