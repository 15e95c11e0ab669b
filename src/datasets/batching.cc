// Rows that already lie side by side in one buffer (a chain that was told the batch size) are not
// copied.

#include "datasets/batching.h"

#include <algorithm>

#include "datasets/pending_rows.h"

namespace penstock {
namespace {

class BatchCursor final : public Cursor {
 public:
  BatchCursor(CursorPtr input, int64_t size, bool drop_remainder, std::vector<LeafSpec> leaves)
      : input_(std::move(input)),
        size_(size),
        drop_remainder_(drop_remainder),
        pending_(std::move(leaves)) {}

 protected:
  Poll next(Block* out, const Pull& pull) override {
    for (;;) {
      // An error comes out between the batches that were full before it and the one being filled.
      if (const int64_t full = std::min(pending_.ready() / size_, pull.max_rows); full > 0)
        return emit(out, pending_.without_copy(full, size_), size_);
      if (pending_.has_error()) {
        *out = pending_.take_error();
        return Poll::ready;
      }
      if (ended_) {
        if (pending_.rows() == 0 || drop_remainder_) return Poll::end;
        return emit(out, 1, pending_.rows());
      }
      // Whole batches at once when they are small; never more than the consumer asked for.
      const int64_t batches = std::min<int64_t>(pull.max_rows, std::max<int64_t>(1, 4096 / size_));
      const Poll poll = input_->pull(&in_, {pending_.lacking(batches, size_), pull.waker});
      if (poll == Poll::pending) return poll;
      if (poll == Poll::end) {
        ended_ = true;
        pending_.settle();
      } else {
        pending_.add(in_, size_);
      }
    }
  }

 private:
  // `count` batches of `rows` rows each from the pending ones.
  Poll emit(Block* out, int64_t count, int64_t rows) {
    pending_.take(count, rows, out);
    if (pending_.empty()) set_mark(out, InputsMark(), {input_->position()});
    return Poll::ready;
  }

  CursorPtr input_;
  const int64_t size_;
  const bool drop_remainder_;
  PendingRows pending_;
  Block in_;
  bool ended_ = false;
};

}  // namespace

CursorPtr open_batching(CursorPtr input, int64_t size, bool drop_remainder,
                        std::vector<LeafSpec> leaves) {
  return std::make_unique<BatchCursor>(std::move(input), size, drop_remainder, std::move(leaves));
}

LeafSpec batched_leaf(const LeafSpec& leaf, int64_t rows) {
  if (leaf.kind == LeafSpec::Kind::optional) {
    NodeDraft::fail("input", "cannot batch " + leaf.text() +
                                 "; take the values out before: map(x -> get_value(x, default))");
  }
  LeafSpec out = leaf;
  out.shape = leaf.shape.with_front(rows);
  if (leaf.kind == LeafSpec::Kind::ragged) ++out.ragged_rank;
  return out;
}

int64_t batch_count(int64_t cardinality, int64_t size, bool drop_remainder) {
  if (cardinality < 0) return cardinality;
  if (size < 0) return kUnknown;
  return cardinality / size + (!drop_remainder && cardinality % size != 0 ? 1 : 0);
}

int64_t open_positive(const OpenContext& context, const PlanNode& node, std::string_view param) {
  const int64_t value = context.int_arg(node, param);
  if (value < 1) {
    throw Error(Code::invalid_argument,
                std::string(param) + " must be positive: " + std::to_string(value));
  }
  return value;
}

int64_t open_batch_size(const OpenContext& context, const PlanNode& node) {
  const int64_t size = context.int_arg(node, "batch_size");
  if (size < 1)
    throw Error(Code::invalid_argument, "size must be positive: " + std::to_string(size));
  return size;
}

int64_t known_batch_size(const NodeDraft& draft) {
  const int64_t size = draft.int_at_least("batch_size", 1, "size must be positive", 1);
  return draft.node.args["batch_size"].is_capture() ? -1 : size;
}

}  // namespace penstock
