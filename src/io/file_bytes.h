// A whole file in memory.
#pragma once

#include <string>
#include <string_view>

#include "data/buffer.h"

namespace penstock {

struct FileBytes {
  BufferRef buffer;
  int64_t size = 0;
};

// Reads a regular file in the calling thread, which waits for the disk and for no pipe. Throws
// Error: "CALLER: NAME: what"; RESOURCE_EXHAUSTED where it has more than `limit` bytes.
FileBytes read_file_bytes(const std::string& path, std::string_view caller = "read_file",
                          int64_t limit = int64_t{1} << 32);

}  // namespace penstock
