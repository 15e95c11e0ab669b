// Elements for people: short values as JSON, large tensors and strings summarised.
#pragma once

#include <functional>
#include <string>

#include "data/block.h"
#include "data/spec.h"

namespace penstock {

struct ElementTextOptions {
  bool full = false;   // every entry and byte
  bool lines = false;  // a component a line, where one line has no room
  // Text of a nested dataset, without it "dataset".
  std::function<std::string(const Object&)> show_object;
};

// One element from its leaves, starting at leaves[*next]. A tensor whose text would be long becomes
// `uint8[224, 224, 3] from 0 to 255, mean 117`.
std::string element_text(const Spec& spec, const std::vector<Tensor>& leaves, size_t* next,
                         const ElementTextOptions& options);

}  // namespace penstock
