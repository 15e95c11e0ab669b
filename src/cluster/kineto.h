// Reads Kineto traces of PyTorch's profiler: one rank of synchronous data-parallel training (DDP).
#pragma once

#include <string>
#include <string_view>

#include "cluster/profile.h"

namespace penstock::cluster {

// Returns whether `bytes` look like a Kineto trace: a JSON object with "traceEvents".
bool is_kineto(std::string_view bytes);

// Returns the steps of the trace (`ProfilerStep#`, the first two left out): computing up to each
// `c10d::allreduce_`, the buckets with their bytes, and the computing after the last bucket.
// Subtracts the time that recording costs for each event; a note says so. Throws DATA_LOSS if the
// text is not JSON, INVALID_ARGUMENT without steps or all-reduces.
Profile read_kineto(const std::string& file, std::string_view bytes);

}  // namespace penstock::cluster
