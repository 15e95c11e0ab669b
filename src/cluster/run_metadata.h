// Reads TensorFlow's RunMetadata (FULL_TRACE with partition graphs) as steps of a profile.
#pragma once

#include <string>
#include <string_view>

#include "cluster/profile.h"

namespace penstock::cluster {

// Adds the step in `bytes` (binary or text protobuf, uncompressed) to `profile`; `file` is for
// messages. Ops come from the partition graphs, times from the step stats. Transfers are `_Recv`
// nodes joined with their `_Send` and their RecvTensor record, whose tensor description has the
// size. Each assumption is added to profile->notes once. Throws DATA_LOSS for bytes that do not
// parse, INVALID_ARGUMENT without partition graphs.
void read_run_metadata(const std::string& file, std::string_view bytes, Profile* profile);

}  // namespace penstock::cluster
