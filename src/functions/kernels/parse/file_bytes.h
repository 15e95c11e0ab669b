// A whole file in memory.
#pragma once

#include <string>

#include "data/buffer.h"

namespace penstock {

struct FileBytes {
  BufferRef buffer;
  int64_t size = 0;
};

// Reads it in the calling thread, which waits. Throws Error: "read_file: NAME: what".
FileBytes read_file_bytes(const std::string& path);

}  // namespace penstock
