// The name of a cache's entry on disk.
#pragma once

#include <string>

#include "plan/node.h"

namespace penstock {

// 32 hex digits: a hash of the identity of `plan` and of path, size and time of every file that it
// names. Any constant text that names a file, a folder or a pattern of files counts as a name, so
// that a file changed in vain makes a new entry, and none that matters is missed; only names that
// are computed from data cannot be seen.
std::string cache_key(const PlanNode& plan);

}  // namespace penstock
