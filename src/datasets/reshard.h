// Sharded pipelines that go on with another number of ranks.
//
// The checkpoints of all N ranks say which elements of the shard's input have not been given: those
// that a rank had not come to, and those that stages behind its shard still held. In the order of
// the input they are dealt to the M ranks, one each in turn, and so is all that follows; later
// passes of a `repeat` behind the shard are sharded as usual. What comes out is an ordinary
// checkpoint of the new rank: stages behind the shard begin anew.
#pragma once

#include <string>
#include <vector>

#include "runtime/saved_run.h"

namespace penstock {

struct RankCheckpoint {
  std::string name;  // for messages: its file
  std::string text;
};

// Where the rank goes on that `written` says by the arguments of its last `shard`; `to_run` is
// what the rewrites made of it. Counts and digests begin anew. Throws FAILED_PRECONDITION for
// checkpoints that are not those of all ranks of one run of this pipeline, and, naming the stage,
// where elements cannot be dealt; DATA_LOSS for what is damaged.
SavedRun deal_anew(const std::vector<RankCheckpoint>& checkpoints, const PlanPtr& written,
                   const PlanPtr& to_run, const RunOptions& options);

}  // namespace penstock
