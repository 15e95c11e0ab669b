// What the calls of a compiled function share.
#pragma once

#include <memory>
#include <vector>

#include "functions/entrywise_chain.h"
#include "functions/evaluate.h"

namespace penstock {

// A node.
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

// All that does not depend on captures.
struct CompiledFunction::Program {
  explicit Program(FunctionPtr f);

  FunctionPtr function;
  std::vector<Step> steps;  // one for each node
  std::vector<EntrywiseChain> chains;
  std::vector<int> result_of;  // for each value: which result it is placed as, -1 for none
  std::vector<int> maker;      // for each value: its node, -1 for none
  bool by_rows = false;
  bool repeatable = true;    // a row may be repeated: it has no effects
  bool reads_files = false;  // while it runs, not only when it is made
};

}  // namespace penstock
