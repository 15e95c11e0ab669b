// Size of a stage's output in one pass over the data: known, or estimated from a part.
#pragma once

#include <vector>

#include "model/model.h"

namespace penstock {

// Returns the stage `id` and all stages below it, with their nested pipelines; ascending.
std::vector<int> closure(const Trace& trace, int id);
// Returns the share of the files below `id` that was read; above 1 after more than one pass, 0 if
// unknown.
double files_read_share(const Trace& trace, int id);

// Returns for each stage whether a `repeat` above it may have drawn its elements more than once.
std::vector<bool> repeated_stages(const Trace& trace);

// Estimates the size of stage `id`. `sizes` already holds those of all stages after `id`.
StageSize stage_size(const Trace& trace, int id, const std::vector<StageSize>& sizes,
                     bool repeated);
CacheVerdict cache_verdict(const Trace& trace, int id, const StageSize& size, int64_t memory_bytes);

}  // namespace penstock
