// Mistakes in names that show without types: for a text that was refused, so that all of them are
// told at once.
#pragma once

#include <string>
#include <vector>

#include "plan/diagnostic.h"
#include "plan/syntax.h"

namespace penstock {

// Names that a pattern binds are added to `names`.
void add_bound_names(const Pattern& pattern, std::vector<std::string>* names);

// Stages, ops, their arguments and variables that there are not, in the order of the text. `known`
// are names from elsewhere: imports, the prelude. What cannot be told (a name that may be a user's
// function) passes.
std::vector<Diagnostic> check_names(const Program& program, const std::vector<std::string>& known);

}  // namespace penstock
