// Which rows of a shard's input are its own.
#pragma once

#include <optional>
#include <vector>

#include "runtime/checkpoint.h"

namespace penstock {

// Those of `listed`, all below row `tail`, and from there on those whose number leaves one of
// `residues` when divided by `period`. A shard has every num_shards-th; after a change of the
// number of ranks, what the ranks before had left over (datasets/reshard.h).
struct Share {
  std::vector<int64_t> listed;  // ascending
  int64_t tail = 0;
  int64_t period = 1;
  std::vector<int64_t> residues;  // ascending

  static Share of_shard(int64_t shards, int64_t index) { return {{}, 0, shards, {index}}; }
  // What the mark of a shard says, and the row of the input that comes next. Throws DATA_LOSS.
  static Share read(const StageMark& mark, const Share& of_shard, int64_t* begin);
  // The numbers of a mark before row `begin`.
  std::vector<int64_t> numbers(const Share& of_shard, int64_t begin) const;

  // Rows of the list from `begin` on.
  int64_t listed_from(int64_t begin) const;
  // The first own row from `begin` on; none when there is none, ever.
  std::optional<int64_t> next(int64_t begin) const;
  // How many of [begin, end) are its own.
  int64_t count(int64_t begin, int64_t end) const;
  // Its own among rows [begin, begin + rows), counted from `begin`.
  void pick(int64_t begin, int64_t rows, std::vector<int32_t>* out) const;
  // Brings the period down to the shortest one.
  void simplify();
};

}  // namespace penstock
