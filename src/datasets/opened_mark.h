// Marks of flat_map and interleave.
#pragma once

#include <optional>
#include <vector>

#include "datasets/inner_rest.h"
#include "runtime/open.h"

namespace penstock {

class Resharding;

// flat_map has two ways to run, and a mark of one resumes in the other (block_flat_map.h). By rows:
// at the position before an element, `source_rows` of the source that its dataset begins with are
// used up and became `emitted` rows, or the dataset is open and its position comes second. By
// slots: at the position before the oldest element that has a dataset open, with the positions of
// these datasets, and of those of `rests`.
struct OpenedMark {
  static constexpr MarkForm kForm{"opened", 1};
  bool by_rows = false;
  int64_t source_rows = 0, emitted = 0;
  bool inside = false;
  int64_t slot = 0;   // whose turn it is
  int64_t taken = 0;  // elements of this turn
  bool input_ended = false;
  std::vector<int64_t> ages;  // of each slot: how many inputs ago its dataset came; 0: it is empty
  InnerRests rests;           // after a change of ranks: of datasets that were partly delivered
  static void fields(auto& mark, auto& f) {
    f.flag("by_rows", mark.by_rows);
    if (mark.by_rows) {
      f.count("source_rows", mark.source_rows);
      f.count("emitted", mark.emitted);
      f.flag("inside", mark.inside);
      return;
    }
    f.count("slot", mark.slot);
    f.count("taken", mark.taken);
    f.flag("input_ended", mark.input_ended);
    f.counts("ages", mark.ages);
    rests_fields(mark.rests, f);
  }
};

// Number of slots with a dataset. Their positions come after that of the input.
size_t open_slots(const OpenedMark& mark);
// Returns the node's mark, with the positions that belong to its rests. Throws DATA_LOSS if it has
// another number of positions than the fields say.
std::optional<OpenedMark> resumed_opened(const OpenContext& context, const PlanNode& node);

const Resharding* interleaving_resharding();

}  // namespace penstock
