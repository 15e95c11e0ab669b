// What one rank of a sharded pipeline had not given yet when its checkpoint was taken.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "datasets/dealing.h"
#include "datasets/inner_rest.h"
#include "datasets/share.h"
#include "runtime/run.h"

namespace penstock {

// Of one pass over the shard's input.
struct PassRest {
  Share share;  // not given yet
  // Where that input can be taken up: its row `begin` comes next.
  int64_t begin = 0;
  StreamPosition input;
  // Of rows whose datasets have been given in part, by row: their inner_key, and what is left.
  std::map<int64_t, std::pair<uint64_t, InnerRest>> opened;
};

struct RankRest {
  int64_t pass = 0;              // of the repeat between; 0 without one
  std::vector<PassRest> passes;  // that one, and those behind it that do not begin as usual
};

// `stages` of the rank's own plan, as written. May run stages from the mark of the checkpoint to
// its place, one row at a time. Throws FAILED_PRECONDITION, naming the stage, for a place between
// elements that belong together.
RankRest undelivered(const std::vector<PlanPtr>& stages, const ResumePoint& from,
                     const RunOptions& options);

}  // namespace penstock
