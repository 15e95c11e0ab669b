// The way down of a checkpoint: from the rows that a rank has delivered to the rows of its shard
// that it has not (datasets/resharding.h).
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "datasets/inner_rest.h"
#include "datasets/resharding.h"
#include "datasets/share.h"
#include "runtime/run.h"

namespace penstock {

// Rest of one pass over the shard's input.
struct PassRest {
  Share share;  // rows not delivered
  // Position of that input before its row `begin`.
  int64_t begin = 0;
  StreamPosition input;
  // Rows whose datasets were partly delivered: their inner_key, and what is left.
  std::map<int64_t, std::pair<uint64_t, InnerRest>> opened;
};

struct RankRest {
  int64_t pass = 0;              // of the repeat after the shard; 0 without one
  std::vector<PassRest> passes;  // that one, and later ones that do not begin as usual
};

class Descent {
 public:
  // Rows are emitted again with these options, but on one thread.
  Descent(const ResumePoint& from, RunOptions options);

  // Returns what the rank has not delivered. `plan` is its own, as written.
  RankRest run(const PlanPtr& plan);

  // For the stages' Resharding.

  // Returns the rest of a pass of which `rest` is left at `node`.
  PassRest go_down(PlanPtr node, Rest rest);
  // Notes that the stages below are in `pass`, and in the later passes to which they were opened.
  void begin_passes(int64_t pass, const PlanNode& repeat, std::span<const StreamPosition> later);
  // Notes the datasets that the rows of the shard have open.
  void note_opened(InnerRests rests) { opened_ = std::move(rests); }
  int64_t pass() const { return pass_; }
  uint64_t iterator() const { return from_.iterator; }
  const RunOptions& options() const { return options_; }

 private:
  PassRest at_shard(const PlanNode& shard, const Rest& rest);
  void find_opened(const PlanPtr& input, PassRest* out);

  const ResumePoint from_;
  RunOptions options_;
  RankRest rank_;
  int64_t pass_ = 0;
  bool repeated_ = false;
  InnerRests opened_;
};

// The rows of a stage from a position on, in the pass at hand. Nothing is read ahead, so what has
// been read has been used.
class EmittedAgain {
 public:
  // `one_by_one`: each row has a mark, if the stage sets any.
  EmittedAgain(const Descent& descent, const PlanPtr& node, const StreamPosition& at,
               bool one_by_one);
  bool next(Block* out, int64_t most);
  StreamPosition position() const;
  const NodeCounters& counters(const PlanNode& node) { return *rows_->run().counters(&node); }

 private:
  const bool within_pass_;
  std::optional<BlockIterator> rows_;
};

// Position of the input of a stage with this mark.
StreamPosition input_of(const PlanNode& node, const MarkPtr& mark);
// Number of rows that the stage has left at the position, but at most `most`.
int64_t rows_left(const Descent& descent, const PlanPtr& node, const StreamPosition& at,
                  int64_t most);

}  // namespace penstock
