// Elements for people: short values as JSON, summaries of large tensors and strings.
#pragma once

#include <functional>
#include <string>

#include "data/block.h"
#include "data/spec.h"

namespace penstock {

struct ElementTextOptions {
  bool full = false;   // every entry and byte
  bool lines = false;  // one component per line if one line is too short
  // Renders a nested dataset; without it "dataset".
  std::function<std::string(const Object&)> show_object;
};

// Formats one element from its leaves, starting at leaves[*next]. A tensor with a long text becomes
// `uint8[224, 224, 3] from 0 to 255, mean 117`.
std::string element_text(const Spec& spec, const std::vector<Tensor>& leaves, size_t* next,
                         const ElementTextOptions& options);

}  // namespace penstock
