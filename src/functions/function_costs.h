// What each op of a function costs, measured.
#pragma once

#include <vector>

#include "functions/evaluate.h"

namespace penstock {

struct OpCost {
  std::string op;    // its name; "if" for a conditional
  std::string name;  // what the author called its value; may be empty
  LeafSpec gives;    // its first output
  double nanoseconds_per_row = 0;
  double bytes_per_row = 0;  // that it reads and makes; constants are not counted
};

// Runs the function over the rows of `in`, which is kept, op by op in the order of its graph, and
// takes the time of each: of its block kernel where it has one for these columns, else row by row.
// What a run makes of whole chains of ops (results in their place of a batch) is not in it. Rows
// that fail take no part behind the op that fails. Constants are left out.
std::vector<OpCost> function_costs(const Function& function, const Block& in);

}  // namespace penstock
