// Resumes sharded pipelines with another number of ranks.
//
// The checkpoints of all N ranks say which elements of the shard's input were not delivered: those
// that a rank had not reached, and those that stages after its shard still held. They are dealt
// round-robin to the M ranks in the order of the input, and so is all that follows; later passes of
// a `repeat` after the shard are sharded as usual. The result is an ordinary checkpoint of the new
// rank: stages after the shard begin anew.
#pragma once

#include <string>
#include <vector>

#include "datasets/descent.h"
#include "runtime/saved_run.h"

namespace penstock {

struct RankCheckpoint {
  std::string name;  // for messages: its file
  std::string text;
};

struct Rank {
  int64_t ranks, rank;
};

// A new rank and the rest of each pass that is its own. Builds the positions of its stages.
class NewRank {
 public:
  NewRank(const Rank& rank, int64_t first_pass, std::vector<PassRest> passes)
      : rank_(rank), first_pass_(first_pass), passes_(std::move(passes)) {}
  StreamPosition of(const PlanNode& node, size_t pass = 0) const;
  // Passes that do not begin as usual, and the number of the first.
  size_t passes() const { return passes_.size(); }
  int64_t first_pass() const { return first_pass_; }
  // Rows of the shard's input whose datasets were partly delivered.
  const auto& opened(size_t pass) const { return passes_[pass].opened; }

 private:
  const Rank rank_;
  const int64_t first_pass_;
  const std::vector<PassRest> passes_;
};

// Returns the start of the rank that the arguments of the last `shard` of `written` say; `to_run`
// is what the rewrites made of it. Counts and digests begin anew. Throws FAILED_PRECONDITION for
// checkpoints that are not those of all ranks of one run of this pipeline and, naming the stage, if
// elements cannot be dealt; DATA_LOSS for a damaged one.
SavedRun deal_anew(const std::vector<RankCheckpoint>& checkpoints, const PlanPtr& written,
                   const PlanPtr& to_run, const RunOptions& options);

}  // namespace penstock
