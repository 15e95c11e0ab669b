// A node of a compiled function with what its calls share.
#pragma once

#include <memory>
#include <vector>

#include "functions/evaluate.h"

namespace penstock {

struct CompiledFunction::Step {
  const FunctionNode* node;
  std::shared_ptr<const void> state;
  std::vector<std::unique_ptr<CompiledFunction>> bodies;
  std::vector<DType> dtypes;  // of the outputs
  std::vector<Tensor> known;  // the outputs, where they depend on files alone
  std::vector<int> places;    // for each output: the result in whose place it is made, -1 for none
  int chain = -1;             // which of chains_ it belongs to
  bool ends_chain = false;    // all of which run where its last node stands
};

}  // namespace penstock
