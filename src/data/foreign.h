// Memory of somebody else as that of tensors.
#pragma once

#include <functional>

#include "data/buffer.h"

namespace penstock {

// Returns a buffer of no bytes of its own, for a tensor whose bytes lie elsewhere: `release` is
// called once, by any thread, when the last reference is gone. It must not throw. No budget counts
// those bytes. Throws RESOURCE_EXHAUSTED; `release` has been called then.
BufferRef foreign_buffer(std::function<void()> release);

}  // namespace penstock
