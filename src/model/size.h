// How much a stage gives in one pass over the data, known or estimated from a part of it.
#pragma once

#include <vector>

#include "model/model.h"

namespace penstock {

// The stages below `id` and itself, nested pipelines of theirs included; ascending.
std::vector<int> closure(const Trace& trace, int id);
// Of the files below `id`, the share that was read; above 1 after more than one pass, 0 when not
// known.
double files_read_share(const Trace& trace, int id);

// For each stage: a `repeat` above it may have drawn its elements more than once.
std::vector<bool> repeated_stages(const Trace& trace);

// `sizes` holds those of all stages after `id` already.
StageSize stage_size(const Trace& trace, int id, const std::vector<StageSize>& sizes,
                     bool repeated);
CacheVerdict cache_verdict(const Trace& trace, int id, const StageSize& size, int64_t memory_bytes);

}  // namespace penstock
