// Reads Chakra execution traces of synchronous training as steps of a profile.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "cluster/profile.h"

namespace penstock::cluster {

// Returns whether `bytes` look like a Chakra trace: a short message, then nodes with a length
// prefix.
bool is_chakra(std::string_view bytes);

// Returns the steps of the trace: between `ProfilerStep#` nodes (the first two steps left out), or
// the whole file as one step. Nodes run in file order, as the thread ran them, with their own
// durations, excluding those of nodes they called. A collective is a COMM_COLL node with comm_type
// and comm_size, or c10d::allreduce_ and c10d::broadcast_ with the size of their tensors. Throws
// DATA_LOSS for bytes that do not parse, INVALID_ARGUMENT without all-reduces.
Profile read_chakra(const std::string& file, std::string_view bytes);

// Returns the bytes of the tensors in a node's first input, written as lists: [id, storage, offset,
// elements, bytes of each, device].
int64_t chakra_input_bytes(std::string_view values);

}  // namespace penstock::cluster
