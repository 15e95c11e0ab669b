// Marks of stages: what a checkpoint is made of.
//
// With RunOptions::marks each stage puts a mark on the blocks it gives, saying how to go on behind
// the block's last row: a few numbers, and where its inputs stand. A mark points at its inputs'
// marks, so the mark of the last block delivered is a checkpoint of the whole pipeline: nothing is
// stopped, copied or asked for to take one. Rows behind a mark are counted and made again. A stage
// that sets no marks is taken up by running it from its beginning.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/recycled.h"
#include "data/mark.h"
#include "data/tensor.h"

namespace penstock {

class Cursor;

class StageMark final : public Mark {
 public:
  StageMark(const void* owner, std::string stage, std::span<const int64_t> numbers,
            std::span<const StreamPosition> inputs, std::vector<Tensor> state = {})
      : Mark(owner),
        stage_(std::move(stage)),
        numbers_(numbers.begin(), numbers.end()),
        inputs_(inputs.begin(), inputs.end()),
        state_(std::move(state)) {}
  const std::string& stage() const { return stage_; }  // the operator's name
  const RecycledVector<int64_t>& numbers() const { return numbers_; }
  // In the order of the node's inputs; a stage that opens nested datasets adds theirs.
  const RecycledVector<StreamPosition>& inputs() const { return inputs_; }
  // Values that cannot be made again from the inputs; no datasets among them.
  const std::vector<Tensor>& state() const { return state_; }
  // Number i. Throws DATA_LOSS when there is none: a checkpoint may be damaged.
  int64_t number(size_t i) const;

 private:
  const std::string stage_;
  const RecycledVector<int64_t> numbers_;
  const RecycledVector<StreamPosition> inputs_;
  const std::vector<Tensor> state_;
};

// The recent past of an input, for stages that still hold rows of it.
class InputTrail {
 public:
  // Before the first pull.
  void start(const Cursor& input);
  // Notes a block pulled from the input; call right after the pull.
  void note(const Cursor& input, int64_t block_rows);
  int64_t rows() const { return rows_; }  // pulled so far
  // Where the input stood before its row `row`, counted from the first pull. REQUIRES: not
  // forgotten.
  StreamPosition before(int64_t row) const;
  // Rows before `row` will not be asked for again.
  void forget(int64_t row);

 private:
  struct Step {
    int64_t row;  // pulled when the input stood there
    StreamPosition position;
  };
  std::vector<Step> steps_;
  int64_t rows_ = 0;
};

// As text, and back. What was saved says which operators it stands behind; taking it up in another
// plan is refused when the plan is opened. read throws DATA_LOSS for what is no position.
std::string write_position(const StreamPosition& position);
StreamPosition read_position(const std::string& text);

}  // namespace penstock
