// Marks of stages: what a checkpoint is made of.
//
// With RunOptions::marks each stage puts a mark on the blocks that it emits. The mark says how to
// resume after the block's last row: the state of the stage (runtime/mark_fields.h) and the
// positions of its inputs. It points at the inputs' marks, so the mark of the last block delivered
// is a checkpoint of the whole pipeline: taking one stops and copies nothing. Rows after a mark are
// counted, and computed again on resume. A stage that sets no marks is run from its beginning.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/recycled.h"
#include "data/mark.h"
#include "data/tensor.h"
#include "runtime/mark_fields.h"

namespace penstock {

class Cursor;

class StageMark final : public Mark {
 public:
  StageMark(const void* owner, std::string stage, const MarkForm& form,
            RecycledVector<int64_t> encoded, std::span<const StreamPosition> inputs,
            std::vector<Tensor> state = {}, bool transparent = false)
      : Mark(owner),
        stage_(std::move(stage)),
        form_(form.name),
        version_(form.version),
        transparent_(transparent),
        encoded_(std::move(encoded)),
        inputs_(inputs.begin(), inputs.end()),
        state_(std::move(state)) {}
  const std::string& stage() const { return stage_; }  // the operator's name
  const std::string& form() const { return form_; }
  int version() const { return version_; }
  // The stage changes no element: in a plan without it, the position of its input stands for the
  // mark.
  bool is_transparent() const { return transparent_; }
  // The fields as numbers; decoded_mark names them.
  std::span<const int64_t> encoded() const { return encoded_; }
  // In the order of the node's inputs; a stage that opens nested datasets adds theirs.
  const RecycledVector<StreamPosition>& inputs() const { return inputs_; }
  // Position of input i. Throws DATA_LOSS if there is none.
  const StreamPosition& input(size_t i = 0) const;
  // Values that cannot be made again from the inputs; no datasets among them.
  const std::vector<Tensor>& state() const { return state_; }

 private:
  const std::string stage_;
  const std::string form_;
  const int version_;
  const bool transparent_;
  const RecycledVector<int64_t> encoded_;
  const RecycledVector<StreamPosition> inputs_;
  const std::vector<Tensor> state_;
};

// All marks are such.
inline const StageMark* stage_mark(const MarkPtr& mark) {
  return static_cast<const StageMark*>(mark.get());
}

template <typename M>
MarkPtr make_mark(const void* owner, const std::string& stage, const M& fields,
                  std::span<const StreamPosition> inputs, std::vector<Tensor> state = {}) {
  bool transparent = false;
  if constexpr (requires { fields.is_transparent(); }) transparent = fields.is_transparent();
  return make_recycled<const StageMark>(owner, stage, M::kForm, encoded_mark(fields), inputs,
                                        std::move(state), transparent);
}

// Returns the position in a plan without the stages of transparent marks. Throws DATA_LOSS for a
// damaged one.
StreamPosition without_transparent(StreamPosition position);

// Mark of a stage whose state is the positions of its inputs, and perhaps tensors.
struct InputsMark {
  static constexpr MarkForm kForm{"inputs", 1};
  static void fields(auto&, auto&) {}
};

// Mark of a source whose rows have an index.
struct IndexMark {
  static constexpr MarkForm kForm{"index", 1};
  int64_t next = 0;  // row
  static void fields(auto& mark, auto& f) { f.number("next", mark.next); }
};

// Mark of a source that reads files one after the other.
struct FileMark {
  static constexpr MarkForm kForm{"file", 1};
  int64_t file = 0;
  int64_t records = 0;  // of it, delivered
  static void fields(auto& mark, auto& f) {
    f.count("file", mark.file);
    f.count("records", mark.records);
  }
};

// The recent past of an input, for stages that still hold rows of it.
class InputTrail {
 public:
  // Before the first pull.
  void start(const Cursor& input);
  // Notes a block pulled from the input; call right after the pull.
  void note(const Cursor& input, int64_t block_rows);
  int64_t rows() const { return rows_; }  // pulled so far
  // Position of the input before its row `row`, counted from the first pull. REQUIRES: not
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

// As text, and back. The text names operators and forms; a plan with others refuses it when it is
// opened there. read_position throws DATA_LOSS for a text that is not a position.
std::string write_position(const StreamPosition& position);
StreamPosition read_position(const std::string& text);

}  // namespace penstock
