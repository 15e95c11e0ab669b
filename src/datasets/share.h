// Which rows of a shard's input are its own.
#pragma once

#include <optional>
#include <vector>

#include "runtime/checkpoint.h"

namespace penstock {

// With the position of the input. After a change of the number of ranks the rows of the shard are
// not every num_shards-th any more.
struct ShardMark {
  static constexpr MarkForm kForm{"shard", 1};
  int64_t begin = 0;   // row of the input that comes next
  bool dealt = false;  // the rest is a Share of its own
  int64_t tail = 0, period = 1;
  std::vector<int64_t> residues, listed;
  static void fields(auto& mark, auto& f) {
    f.count("begin", mark.begin);
    f.flag("dealt", mark.dealt);
    if (!mark.dealt) return;
    f.count("tail", mark.tail);
    f.count("period", mark.period);
    f.counts("residues", mark.residues);
    f.counts("listed", mark.listed);
  }
};

// Those of `listed`, all below row `tail`, and from there on those whose number leaves one of
// `residues` when divided by `period`. A shard has every num_shards-th; after a change of the
// number of ranks, what the ranks before had left over (datasets/reshard.h).
struct Share {
  std::vector<int64_t> listed;  // ascending
  int64_t tail = 0;
  int64_t period = 1;
  std::vector<int64_t> residues;  // ascending

  static Share of_shard(int64_t shards, int64_t index) { return {{}, 0, shards, {index}}; }
  // The share that the mark says: `of_shard`, unless it is dealt. Throws DATA_LOSS.
  static Share of(const ShardMark& mark, const Share& of_shard);
  // The mark before row `begin`.
  ShardMark mark(const Share& of_shard, int64_t begin) const;

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
