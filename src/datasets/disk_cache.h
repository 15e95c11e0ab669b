// A cache in a folder: an entry for each plan that filled one, a snapshot file named by the
// identity of what is cached.
#pragma once

#include <optional>
#include <string>

#include "plan/node.h"
#include "runtime/open.h"

namespace penstock {

// State that the passes over a cache share.
class CachedPasses {
 public:
  // Returns true if the cache changes no element: its input has the same in each pass. False in
  // nested pipelines, and for runs without marks. Under the mutex of the state.
  bool same_in_each_pass(const PlanNode& cache, const OpenContext& context);

 private:
  std::optional<bool> same_;
};

struct DiskCacheOptions {
  std::string folder;
  std::string compression;
  int64_t size_limit_bytes = 0;  // of all entries together; 0: none
};

// The node's `compression` and `size_limit`.
DiskCacheOptions disk_cache_options(const PlanNode& node, std::string folder);

// Fails unless all code of users before the cache has an identity: entries go by it.
void check_identities(const NodeDraft& draft);

// Throws INVALID_ARGUMENT inside a function, where the plan may hang from a row's values.
// Reads the entry of the node's input where there is one. Else gives what the input gives and, when
// nobody else is at it, writes it down: the entry comes to be when a pass ends without an error.
// Whatever goes wrong with the folder, the pass goes on without it and standard error says so.
CursorPtr open_disk_cache(const PlanPtr& node, const OpenContext& context,
                          const DiskCacheOptions& options);

}  // namespace penstock
