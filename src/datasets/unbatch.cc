// unbatch(): each element's items along the first axis, one after the other.
//
// All components of an element have the same first size, else it is an error; elements without
// items give nothing.

#include <algorithm>

#include "base/random.h"
#include "datasets/datasets.h"
#include "datasets/items.h"
#include "datasets/unbatching.h"

namespace penstock {
namespace {

class UnbatchCursor final : public Cursor {
 public:
  // `given` items of the first row are dropped.
  UnbatchCursor(CursorPtr input, std::vector<LeafSpec> leaves, int64_t given)
      : input_(std::move(input)), leaves_(std::move(leaves)) {
    trail_.start(*input_);
    drop_rows(given);
  }

 protected:
  Poll next(Block* out, const Pull& pull) override {
    BlockBuilder rows(leaves_.size());
    while (rows.rows() < pull.max_rows) {
      if (items_.rows > 0) {
        const int64_t n = std::min(pull.max_rows - rows.rows(), items_.rows);
        rows.append(n == items_.rows ? items_ : items_.slice(0, n));
        given_ += n;
        if (n == items_.rows) {
          items_ = Block();
        } else {
          items_.drop_front(n);
        }
        continue;
      }
      if (at_ == in_.rows) {
        at_ = 0;
        in_ = Block();
        const Poll poll = input_->pull(&in_, pull);
        if (poll == Poll::ready) {
          trail_.note(*input_, in_.rows);
          continue;
        }
        in_ = Block();
        if (rows.empty()) return poll;
        break;
      }
      const int64_t row = at_++;
      given_ = 0;
      try {
        if (const ErrorPtr* e = in_.error_at(row)) {
          items_ = error_block(*e, leaves_.size(), in_.origin.slice(row));
        } else {
          items_ = items_of(in_, row);
        }
      } catch (const Error&) {
        items_ = error_block(current_error(), leaves_.size(), in_.origin.slice(row));
      }
    }
    *out = rows.finish();
    if (identity().marks) mark(out);
    return Poll::ready;
  }

 private:
  // Apart from next, whose frames stand on each other in deep pipelines.
  [[gnu::noinline]] void mark(Block* out) {
    const bool within = items_.rows > 0;
    const int64_t row = trail_.rows() - in_.rows + at_ - (within ? 1 : 0);
    set_mark(out, UnbatchMark{within ? given_ : 0}, {trail_.before(row)});
    trail_.forget(row);
  }

  [[gnu::noinline]] Block items_of(const Block& block, int64_t row) const {
    Block out;
    for (size_t c = 0; c < leaves_.size(); ++c) {
      out.columns.push_back(item_column(block.columns[c].row(row), leaves_[c]));
      if (out.columns[c].rows() != out.columns[0].rows()) {
        throw Error(Code::invalid_argument,
                    "the components of an element differ in their first size: " +
                        std::to_string(out.columns[0].rows()) + " and " +
                        std::to_string(out.columns[c].rows()));
      }
    }
    out.rows = out.columns[0].rows();
    out.origin = Origin(mix(block.origin.lineage(row), 1), 1, block.origin.epoch(row));
    return out;
  }

  CursorPtr input_;
  const std::vector<LeafSpec> leaves_;  // of the input
  Block in_;
  int64_t at_ = 0;     // next row of in_
  Block items_;        // of the row before it, still to be given
  int64_t given_ = 0;  // items of that row
  InputTrail trail_;
};

}  // namespace

CursorPtr open_unbatching(CursorPtr input, std::vector<LeafSpec> leaves, const UnbatchMark& from) {
  const size_t columns = leaves.size();
  CursorPtr cursor =
      std::make_unique<UnbatchCursor>(std::move(input), std::move(leaves), from.emitted);
  cursor->set_identity({nullptr, "unbatch", columns});
  return cursor;
}

OperatorDef unbatch_operator() {
  OperatorDef op;
  op.name = "unbatch";
  op.doc = "The items of each element along its first axis, one by one.";
  op.params = {required("input", Param::Kind::dataset)};
  op.rows = Rows::regroup;
  op.peer_has_index = true;
  op.infer = [](NodeDraft& draft) {
    std::vector<LeafSpec> leaves = draft.input().spec.leaves();
    if (leaves.empty()) NodeDraft::fail("input", "at least one component is needed");
    int64_t size = -1;
    bool counted = true;  // as the peer counts: not what is empty, and not sparse tensors
    for (LeafSpec& leaf : leaves) {
      counted &= leaf.kind != LeafSpec::Kind::sparse;
      const int64_t n = first_size(leaf, "cannot unbatch");
      if (size < 0) size = n;
      if (n >= 0 && n != size) {
        NodeDraft::fail("input",
                        "the components differ in their first size: " + draft.input().spec.text());
      }
      leaf = item_leaf(leaf);
    }
    draft.node.spec = draft.input().spec.with_leaves(leaves);
    const int64_t n = draft.input().cardinality;
    const bool known = counted && n >= 0 && size > 0 && n <= INT64_MAX / size;
    draft.node.cardinality = n == kInfinite ? kInfinite : known ? n * size : kUnknown;
  };
  op.open = [](const PlanPtr& node, OpenContext& context) -> CursorPtr {
    return open_unbatching(context.open_input(*node), node->inputs[0]->spec.leaves(),
                           context.resumed<UnbatchMark>(*node).value_or(UnbatchMark()));
  };
  return op;
}

}  // namespace penstock
