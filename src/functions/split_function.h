// A function as two: a first part that makes some values, and the rest.
#pragma once

#include <vector>

#include "functions/function.h"

namespace penstock {

// `rest` after `first` gives what the function gives; every node but constants is in one of them.
struct SplitFunction {
  // From the function's input to the values that `rest` or the caller needs: one leaf, or a tuple.
  FunctionPtr first;
  FunctionPtr rest;  // from these values to the function's output
  // The leaf of first->output that is the function's result of that index; -1 where none is.
  std::vector<int> leaf_of_result;
};

// Splits the function so that `first` makes the results with these indices, and nothing that they
// do not need. Each has those of the function's captures that it uses.
SplitFunction split_function(const Function& function, const std::vector<int>& results);

// `function` with its inputs taken from other leaves of a wider element: leaf i of its input is
// leaf leaves[i] of `input`; one that is not used may have -1.
FunctionPtr from_leaves(const Function& function, const Spec& input,
                        const std::vector<int>& leaves);

}  // namespace penstock
