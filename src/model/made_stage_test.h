// Stages of traces that no run made, for tests.
#pragma once

#include <utility>

#include "datasets/datasets.h"
#include "plan/node.h"
#include "trace/trace.h"

namespace penstock {

// Its elements have 100 bytes each.
inline StageTrace made_stage(int id, const char* op, std::vector<int> inputs, int64_t elements,
                             double cpu_seconds) {
  StageTrace s;
  s.id = id;
  s.op = op;
  s.label = op;
  register_datasets();
  take_facts(*OperatorRegistry::instance().find(op), &s);
  s.inputs = std::move(inputs);
  s.elements = elements;
  s.blocks = elements;
  s.bytes = elements * 100;
  s.cpu_seconds = cpu_seconds;
  s.fixed_size = true;
  return s;
}

}  // namespace penstock
