// Reads that survive transient faults.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <span>

namespace penstock {

// Works like pread(2): at least one byte unless the file ends at `offset`. Retries errors that a
// remote file system may return once (EIO, EAGAIN, ETIMEDOUT, ENETRESET, ECONNRESET) three times,
// after 1, 10 and 100 ms; then returns -1 with errno set.
//
// With PENSTOCK_FAULT_READ=N in the environment every N-th read of the process fails with EIO, but
// at most twice for one call, and the next one returns fewer bytes than requested: the tests run
// under it.
ssize_t steady_pread(int fd, std::span<std::byte> out, int64_t offset);

}  // namespace penstock
