// Which stages behind `shard` can go on with another number of ranks.
#pragma once

#include <optional>
#include <vector>

#include "plan/node.h"

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

}  // namespace penstock
