// The rig's parameter server.
#pragma once

#include <string>

#include "bench/cluster/layers.h"

namespace penstock::rig {

// Serves the tensors of server `index` on `address` until standard input ends. Prints "ready".
void serve(const Layers& layers, int32_t index, const std::string& address);

}  // namespace penstock::rig
