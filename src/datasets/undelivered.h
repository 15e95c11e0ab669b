// What one rank of a sharded pipeline had not given yet when its checkpoint was taken.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "datasets/inner_rest.h"
#include "datasets/share.h"
#include "runtime/run.h"

namespace penstock {

// How a stage behind `shard` can be taken to another number of ranks.
enum class Dealing : uint8_t {
  same,     // a row for each row: nothing is held
  ordered,  // what it has given came of the rows before a place
  listed,   // its mark lists the rows that it holds (datasets/refill.h)
  drawn,    // shuffle
  opened,   // flat_map and interleave: rows of datasets that are opened for the input's rows
  repeated,
  shard,
};
// None: what the stage gives depends on all that its rank had, or it holds parts of rows.
std::optional<Dealing> dealing_of(const PlanNode& node);
// The numbers of a mark of such a stage that has given nothing yet.
std::vector<int64_t> first_numbers(const PlanNode& node);

// The stages from the last one to `shard`. Throws FAILED_PRECONDITION, naming the stage, when there
// is none or another stage stands between that cannot be dealt.
std::vector<PlanPtr> stages_to_shard(const PlanPtr& plan);

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
