// Checkpoints of operators that gather rows: buckets, groups, packed rows.
#pragma once

#include <optional>
#include <vector>

#include "runtime/open.h"

namespace penstock {

// Rows that an operator holds, counted from where its input stood before the oldest of them: part
// of its mark, or all of it.
struct HeldRows {
  static constexpr MarkForm kForm{"held", 1};
  int64_t head = 0;           // rows that it has read
  std::vector<int64_t> rows;  // of them, that it holds; ascending
  static void fields(auto& mark, auto& f) {
    f.count("head", mark.head);
    f.counts("rows", mark.rows);
  }
};

// Fills an operator again with the rows that it held. A cursor that is opened where the mark says
// reads the rows after the oldest again and gathers only the held ones. Rows are counted from the
// first pull.
class Refill {
 public:
  // Before the first pull. Throws DATA_LOSS for a damaged mark.
  void start(const Cursor& input, std::optional<HeldRows> from);
  // Call right after each pull of the input.
  void note(const Cursor& input, int64_t block_rows) { trail_.note(input, block_rows); }
  int64_t rows() const { return trail_.rows(); }  // pulled so far
  // Returns true if a row was delivered, or dropped, before the mark.
  bool is_gone(int64_t row);
  // For a mark after row `head` - 1: sets `out` and returns the position of the input before the
  // oldest row held. `held` is in any order. Rows before the oldest are forgotten.
  StreamPosition hold(int64_t head, std::vector<int64_t> held, HeldRows* out);

 private:
  InputTrail trail_;
  HeldRows from_;    // rows before its head are gone unless they are in its list
  size_t next_ = 0;  // of the list
};

}  // namespace penstock
