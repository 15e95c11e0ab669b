// How often the values of a function are used.
#pragma once

#include <vector>

#include "functions/function.h"

namespace penstock {

// By value: as an input of a node, and as a result.
inline std::vector<int> count_uses(const Function& f) {
  std::vector<int> out(f.values.size(), 0);
  for (const FunctionNode& node : f.nodes) {
    for (const ValueId id : node.inputs) ++out[static_cast<size_t>(id)];
  }
  for (const ValueId id : f.results) ++out[static_cast<size_t>(id)];
  return out;
}

}  // namespace penstock
