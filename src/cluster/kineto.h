// Kineto traces of PyTorch's profiler: one rank of synchronous data-parallel training (DDP).
#pragma once

#include <string>
#include <string_view>

#include "cluster/profile.h"

namespace penstock::cluster {

// Whether `bytes` look like one: a JSON object with "traceEvents".
bool is_kineto(std::string_view bytes);

// Steps of the trace (`ProfilerStep#`, the first two left out): computing up to each
// `c10d::allreduce_`, the buckets with their bytes, and what follows the last of them. Recording
// costs time for each event; that is taken out, and said in the notes.
// Throws DATA_LOSS for text that is no JSON, INVALID_ARGUMENT without steps or all-reduces.
Profile read_kineto(const std::string& file, std::string_view bytes);

}  // namespace penstock::cluster
