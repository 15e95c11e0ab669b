// Checkpoints of operators that gather rows: buckets, groups, packed rows.
#pragma once

#include <span>
#include <vector>

#include "runtime/open.h"

namespace penstock {

// Which rows of the input an operator still holds. A mark says where the input stood before the
// oldest of them, and which of the rows behind it are held; a cursor that is opened there reads
// these rows again and gathers only the held ones. Rows are counted from the first pull.
class Refill {
 public:
  // Before the first pull. The mark's numbers from `first_number` on are those of `add_to_mark`.
  // Throws DATA_LOSS for a damaged mark.
  void start(const Cursor& input, const StageMark* from, size_t first_number);
  // Call right after each pull of the input.
  void note(const Cursor& input, int64_t block_rows) { trail_.note(input, block_rows); }
  int64_t rows() const { return trail_.rows(); }  // pulled so far
  // Whether a row had been given, or dropped, before the mark.
  bool is_gone(int64_t row);
  // What a mark behind row `head` - 1 needs: appends its numbers and returns where the input is to
  // be taken up. `held` is sorted in place. Rows before the oldest of them are forgotten.
  StreamPosition add_to_mark(int64_t head, std::vector<int64_t>* held,
                             std::vector<int64_t>* numbers);

 private:
  InputTrail trail_;
  int64_t head_ = 0;           // rows before it are gone unless they are in kept_
  std::vector<int64_t> kept_;  // ascending
  size_t next_ = 0;            // of them
};

}  // namespace penstock
