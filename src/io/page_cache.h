// The kernel's page cache of local files: what of a file is in memory, and how to get it out.
#pragma once

#include <cstdint>
#include <string>

namespace penstock {

struct CachedBytes {
  int64_t cached = 0;
  int64_t bytes = 0;  // 0: it cannot be said of this name
};
CachedBytes in_page_cache(const std::string& name);

// Asks the kernel to drop the file from its cache, so that the next read comes from the disk. Does
// nothing for names of other file systems; a file in memory (tmpfs) stays.
void drop_from_page_cache(const std::string& name);

}  // namespace penstock
