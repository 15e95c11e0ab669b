// padded_batch(batch_size, padded_shapes=none, padding_values=none, drop_remainder=false,
// max_tokens=none): elements of one batch are padded at their ends to one shape and stacked.
//
// A size that is left open takes the largest of the batch. As in batch, an error takes no slot; an
// element that does not fit padded_shapes is one.
// With max_tokens a batch ends where one more element would make its rows times its longest row
// more than that; an element that is longer alone is an error. batch_size is then a bound besides.

#include <algorithm>

#include "datasets/batching.h"
#include "datasets/datasets.h"
#include "datasets/padding.h"
#include "datasets/resharding.h"
#include "datasets/token_budget.h"
#include "runtime/indexed.h"

namespace penstock {
namespace {

class PaddedBatchCursor final : public Cursor {
 public:
  PaddedBatchCursor(CursorPtr input, int64_t size, TokenBudget budget, bool drop_remainder,
                    const std::vector<LeafSpec>& leaves, std::vector<Padding> paddings)
      : input_(std::move(input)),
        size_(size),
        budget_(budget),
        drop_remainder_(drop_remainder),
        paddings_(std::move(paddings)),
        check_(leaves, paddings_),
        rows_(paddings_.size()) {}

 protected:
  Poll next(Block* out, const Pull& pull) override {
    for (;;) {
      if (filled_ == size_ || (ended_ && filled_ > 0 && !drop_remainder_)) return emit(out);
      if (ended_) return Poll::end;
      if (at_ == in_.rows) {
        end_run();
        at_ = run_ = 0;
        in_ = Block();
        before_ = input_->position();
        const Poll poll = input_->pull(&in_, {rows_to_pull(pull.max_rows), pull.waker});
        if (poll == Poll::pending) return poll;
        if (poll == Poll::end) {
          ended_ = true;
          in_ = Block();
          continue;
        }
        row_bytes_ = in_.payload_bytes() / in_.rows;
        if (check_.may_fail()) check_.apply(&in_);
      }
      if (const ErrorPtr* e = in_.error_at(at_)) {
        end_run();
        *out = error_block(*e, identity().columns, in_.origin.slice(at_));
        run_ = ++at_;
        return Poll::ready;
      }
      if (budget_.limited() && !admit(at_)) return emit(out);
      if (filled_ == 0) origin_ = in_.origin.slice(at_);
      const bool one = budget_.limited() || !in_.errors.empty();
      const int64_t rows = one ? 1 : std::min(in_.rows - at_, size_ - filled_);
      at_ += rows;
      filled_ += rows;
    }
  }

 private:
  // For the batch that is under way; while rows turn out small, for those that are wanted behind
  // it.
  int64_t rows_to_pull(int64_t batches) const {
    if (budget_.limited()) return batches;
    constexpr int64_t kMostRows = 1024, kMostBytes = 256 << 10;
    const int64_t now = size_ - filled_;
    if (row_bytes_ < 0 || batches == 1 || now >= kMostRows) return now;
    const int64_t small = std::min(kMostRows, kMostBytes / std::max<int64_t>(1, row_bytes_));
    const int64_t more = std::min(batches - 1, kMostRows) * std::min(size_, kMostRows);
    return std::max(now, std::min(small, now + more));
  }

  // The rows [run_, at_) go into the batch.
  void end_run() {
    if (run_ == at_) return;
    for (size_t c = 0; c < rows_.size(); ++c) rows_[c].add(in_.columns[c].slice(run_, at_ - run_));
    run_ = at_;
  }

  // False when the batch has no room for the row.
  bool admit(int64_t row) {
    int64_t tokens = 0;
    for (size_t c = 0; c < rows_.size(); ++c) {
      const Dims dims = in_.columns[c].dims_of(row);
      if (dims.rank() == 0) continue;
      const Shape& padded = paddings_[c].shape;
      tokens = std::max(tokens, padded.has_rank() && padded[0] >= 0 ? padded[0] : dims[0]);
    }
    try {
      return budget_.add(std::max<int64_t>(1, tokens), filled_);
    } catch (const Error&) {
      end_run();
      run_ = ++at_;  // the row goes, the batch stays
      throw;
    }
  }

  Poll emit(Block* out) {
    end_run();
    filled_ = 0;
    out->clear();
    out->rows = 1;
    out->origin = origin_;
    pad_components(rows_, paddings_, out);
    set_mark(
        out, InputsMark(),
        {at_ == in_.rows ? input_->position() : StreamPosition{before_.mark, before_.rows + at_}});
    return Poll::ready;
  }

  CursorPtr input_;
  const int64_t size_;
  TokenBudget budget_;
  const bool drop_remainder_;
  const std::vector<Padding> paddings_;
  const PaddingCheck check_;
  std::vector<RowsToPad> rows_;  // of each component
  int64_t filled_ = 0;
  Origin origin_;
  StreamPosition before_;  // of in_
  Block in_;
  int64_t at_ = 0, run_ = 0;  // in in_: the next row, the first that is not in rows_ yet
  int64_t row_bytes_ = -1;    // of the last block
  bool ended_ = false;
};

void infer(NodeDraft& draft) {
  const bool by_tokens = check_max_tokens(draft);
  const bool counted = !draft.node.args["batch_size"].is_none();
  if (!counted && !by_tokens) NodeDraft::fail("batch_size", "is needed, or max_tokens");
  const int64_t size = counted ? known_batch_size(draft) : -1;
  const bool drop = draft.node.args["drop_remainder"].as_bool();
  if (drop && by_tokens)
    NodeDraft::fail("drop_remainder", "has no meaning with max_tokens: no batch is full");
  const std::vector<Padding> how = read_paddings(draft.input(), draft.node.args["padded_shapes"],
                                                 draft.node.args["padding_values"]);
  std::vector<LeafSpec> leaves = draft.input().spec.leaves();
  for (size_t i = 0; i < leaves.size(); ++i) {
    leaves[i] =
        LeafSpec::tensor(leaves[i].dtype, how[i].shape.with_front(drop ? size : Shape::kUnknown));
  }
  draft.node.spec = draft.input().spec.with_leaves(leaves);
  const int64_t n = draft.input().cardinality;
  draft.node.cardinality = by_tokens && n > 0 ? kUnknown : batch_count(n, size, drop);
}

}  // namespace

OperatorDef padded_batch_operator() {
  OperatorDef op;
  op.name = "padded_batch";
  op.doc = "Consecutive elements, padded to one shape and stacked.";
  op.params = {required("input", Param::Kind::dataset),
               optional("batch_size", Param::Kind::tensor, {}),
               optional("padded_shapes", Param::Kind::any, {}),
               optional("padding_values", Param::Kind::any, {}),
               optional("drop_remainder", Param::Kind::boolean, Attr::boolean(false)),
               option("max_tokens", Param::Kind::tensor, {})};
  op.rows = Rows::regroup;
  op.resharding = resharding_in_order<InputsMark>();
  op.infer = infer;
  op.open = [](const PlanPtr& node, OpenContext& context) -> CursorPtr {
    const bool counted = !node->arg("batch_size").is_none();
    return std::make_unique<PaddedBatchCursor>(
        context.open_input(*node), counted ? open_batch_size(context, *node) : INT64_MAX,
        open_token_budget(context, *node), node->arg("drop_remainder").as_bool(),
        node->inputs[0]->spec.leaves(), open_paddings(context, *node));
  };
  op.open_indexed = [](const PlanPtr& node, const OpenContext& context) {
    if (node->arg("batch_size").is_none())
      throw Error(Code::unimplemented, "batches of max_tokens have no index");
    const int64_t size = open_batch_size(context, *node);
    return grouped(open_indexed_input(*node, context), size, node->arg("drop_remainder").as_bool(),
                   [node, context, size](CursorPtr rows) -> CursorPtr {
                     auto cursor = std::make_unique<PaddedBatchCursor>(
                         std::move(rows), size, open_token_budget(context, *node), false,
                         node->inputs[0]->spec.leaves(), open_paddings(context, *node));
                     context.identify(*node, cursor.get());
                     return cursor;
                   });
  };
  return op;
}

}  // namespace penstock
