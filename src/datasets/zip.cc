// zip(a, b, ...), zip((a, b)), zip({k: a}): elements of several inputs side by side, until one
// ends.
//
// An error of one input takes its position from all: the others advance, the error comes out.

#include <algorithm>
#include <optional>

#include "base/random.h"
#include "datasets/datasets.h"
#include "runtime/indexed.h"

namespace penstock {
namespace {

// The first `rows` rows of the blocks side by side.
Block join(std::span<const Block> blocks, int64_t rows) {
  Block out;
  out.rows = rows;
  RowIds lineages, epochs;
  for (const Block& b : blocks) {
    const Block part = b.slice(0, rows);
    out.columns.insert(out.columns.end(), part.columns.begin(), part.columns.end());
    for (const RowError& e : part.errors) {
      if (!out.error_at(e.row))
        out.errors.insert(std::ranges::upper_bound(out.errors, e.row, {}, &RowError::row), e);
    }
  }
  if (blocks.size() == 1) {
    out.origin = blocks[0].origin;
    return out;
  }
  for (int64_t r = 0; r < rows; ++r) {
    uint64_t lineage = blocks[0].origin.lineage(r);
    for (const Block& b : blocks.subspan(1)) lineage = mix(lineage, b.origin.lineage(r));
    lineages.push_back(lineage);
    epochs.push_back(blocks[0].origin.epoch(r));
  }
  out.origin = Origin::of(std::move(lineages), std::move(epochs));
  return out;
}

class ZipCursor final : public Cursor {
 public:
  explicit ZipCursor(std::vector<CursorPtr> inputs)
      : inputs_(std::move(inputs)), held_(inputs_.size()), ended_(inputs_.size(), false) {
    for (const CursorPtr& input : inputs_) before_.push_back(input->position());
  }

 protected:
  Poll next(Block* out, const Pull& pull) override {
    if (done_) return Poll::end;
    // All inputs are asked before anyone's end counts, so that they stay in step.
    bool pending = false;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      if (held_[i].rows > 0 || ended_[i]) continue;
      before_[i] = inputs_[i]->position();
      const Poll poll = inputs_[i]->pull(&held_[i], pull);
      pending |= poll == Poll::pending;
      if (poll == Poll::end) ended_[i] = true;
    }
    if (pending) return Poll::pending;
    if (std::ranges::find(ended_, true) != ended_.end()) {
      done_ = true;
      return last_error(out);
    }
    int64_t rows = pull.max_rows;
    for (const Block& b : held_) rows = std::min(rows, b.rows);
    *out = join(held_, rows);
    for (size_t i = 0; i < held_.size(); ++i) {
      before_[i].rows += rows;
      if (held_[i].rows == rows) {
        held_[i] = Block();
        before_[i] = inputs_[i]->position();
      } else {
        held_[i].drop_front(rows);
      }
    }
    set_mark(out, InputsMark(), before_);
    return Poll::ready;
  }

 private:
  // At the position where an input ended those before it still say their errors.
  Poll last_error(Block* out) {
    for (size_t i = 0; i < held_.size() && !ended_[i]; ++i) {
      if (held_[i].rows > 0 && held_[i].error_at(0)) {
        *out = error_block(*held_[i].error_at(0), identity().columns, held_[i].origin);
        return Poll::ready;
      }
    }
    return Poll::end;
  }

  std::vector<CursorPtr> inputs_;
  std::vector<Block> held_;
  std::vector<StreamPosition> before_;  // where each input stands before what is held of it
  std::vector<bool> ended_;
  bool done_ = false;
};

Spec spec_of(const Attr& structure, const std::vector<PlanPtr>& inputs) {
  if (structure.is_tensor()) return inputs[static_cast<size_t>(structure.as_int())]->spec;
  std::vector<Spec> items;
  for (const Attr& item : structure.items()) items.push_back(spec_of(item, inputs));
  return structure.kind() == Attr::Kind::tuple ? Spec::tuple(std::move(items))
                                               : Spec::dict(structure.keys(), std::move(items));
}

}  // namespace

OperatorDef zip_operator() {
  OperatorDef op;
  op.name = "zip";
  op.doc = "Elements of several datasets side by side, until one ends: zip(a, b), zip((a, b)), "
           "zip({k: a}).";
  op.params = {required("datasets", Param::Kind::datasets)};
  op.rows = Rows::mixed;
  op.infer = [](NodeDraft& draft) {
    if (draft.node.inputs.empty()) NodeDraft::fail("datasets", "at least one dataset is needed");
    if (draft.node.args["structure"].kind() == Attr::Kind::list)
      NodeDraft::fail("datasets", "expected datasets, or a tuple or dict of them");
    draft.node.spec = spec_of(draft.node.args["structure"], draft.node.inputs);
    int64_t least = kInfinite;
    for (const PlanPtr& input : draft.node.inputs) {
      const int64_t n = input->cardinality;
      if (n == kUnknown || least == kUnknown) {
        least = kUnknown;
      } else if (n != kInfinite) {
        least = least == kInfinite ? n : std::min(least, n);
      }
    }
    draft.node.cardinality = least;
  };
  op.open = [](const PlanPtr& node, OpenContext& context) -> CursorPtr {
    std::vector<CursorPtr> inputs;
    for (size_t i = 0; i < node->inputs.size(); ++i) inputs.push_back(context.open_input(*node, i));
    return std::make_unique<ZipCursor>(std::move(inputs));
  };
  op.open_indexed = [](const PlanPtr& node, const OpenContext& context) {
    std::vector<std::shared_ptr<Indexed>> inputs;
    int64_t rows = INT64_MAX;
    for (size_t i = 0; i < node->inputs.size(); ++i) {
      inputs.push_back(open_indexed_input(*node, context, i));
      rows = std::min(rows, inputs.back()->rows());
    }
    return make_indexed(rows, [inputs](std::span<const int64_t> indices) {
      std::vector<Block> blocks;
      for (const auto& input : inputs) blocks.push_back(input->at(indices));
      return join(blocks, static_cast<int64_t>(indices.size()));
    });
  };
  return op;
}

}  // namespace penstock
