// What is left of the datasets of a flat_map or interleave that goes on with another number of
// ranks.
//
// The ranks before had given parts of them, in an order of their own: of each such dataset it is
// known from which row on nothing has been given, and which rows before that were still held.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "data/block.h"
#include "runtime/checkpoint.h"

namespace penstock {

// Of the rows of a dataset from `start` on the first `head` have been given, but for `kept`.
struct InnerRest {
  StreamPosition start;
  int64_t head = 0;
  std::vector<int64_t> kept;  // ascending, below head

  // Of rows [row, row + most): how many from the first on have been given; how many have not.
  int64_t given_from(int64_t row, int64_t most) const;
  int64_t left_from(int64_t row, int64_t most) const;
  // What is left behind the first `rows` rows, where the dataset stands at `now`.
  InnerRest behind(int64_t rows, const StreamPosition& now) const;
};

// By inner_key of the input.
using InnerRests = std::map<uint64_t, InnerRest>;
uint64_t inner_key(const Origin& input, int64_t row);

// Fields of a mark (runtime/mark_fields.h) that hold rests, without their starts: these are
// positions of the mark, in the order of the keys.
void rests_fields(const InnerRests& rests, auto& f) {
  f.count("rests", std::ssize(rests));
  for (const auto& [key, rest] : rests) {
    f.id("key", key);
    f.count("head", rest.head);
    f.counts("kept", rest.kept);
  }
}
void rests_fields(InnerRests& rests, MarkReader& f);

}  // namespace penstock
