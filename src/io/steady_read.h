// Reads that outlast passing faults.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <span>

namespace penstock {

// As pread(2), at least one byte unless the file ends at `offset`. What a file system far away may
// answer once and not again (EIO, EAGAIN, ETIMEDOUT, ENETRESET, ECONNRESET) is tried three times
// more, after 1, 10 and 100 ms; -1 with errno set when that doesn't help.
//
// PENSTOCK_FAULT_READ=N in the environment makes every N-th read of the process fail with EIO, and
// the one after it give less than was asked for: the tests run under it.
ssize_t steady_pread(int fd, std::span<std::byte> out, int64_t offset);

}  // namespace penstock
