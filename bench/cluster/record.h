// The times of one step of the rig and its TensorFlow RunMetadata.
#pragma once

#include <string>
#include <vector>

#include "bench/cluster/layers.h"

namespace penstock::rig {

struct Times {
  int64_t begin_ns = 0, end_ns = 0;
};

struct StepRecord {
  Times step;
  std::vector<Times> down, up, apply;    // by tensor
  std::vector<Times> forward, backward;  // by layer
};

// Returns serialised RunMetadata with step stats and partition graphs, as TensorFlow records it.
std::string run_metadata(const Layers& layers, const StepRecord& record);

}  // namespace penstock::rig
