// What is left of the datasets of a flat_map or interleave that goes on with another number of
// ranks.
//
// The ranks before had given parts of them, in an order of their own: of each such dataset it is
// known from which row on nothing has been given, and which rows before that were still held.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
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

// As numbers and positions of a mark, behind what stands there, and back. take_rests throws
// DATA_LOSS for what is no such thing.
void put_rests(const InnerRests& rests, std::vector<int64_t>* numbers,
               std::vector<StreamPosition>* positions);
InnerRests take_rests(std::span<const int64_t> numbers, std::span<const StreamPosition> positions);

}  // namespace penstock
