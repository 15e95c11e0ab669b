// bucket_by_sequence_length(element_length_func, boundaries, batch_sizes, padded_shapes=none,
// padding_values=none, pad_to_bucket_boundary=false, no_padding=false, drop_remainder=false,
// max_tokens=none): elements of like length batched together, padded to the longest of the batch.
//
// An element that cannot stand in its batch is an error and takes no slot: one that does not fit
// padded_shapes, or without padding one of another shape than most of its batch.
//
// Bucket i takes lengths from boundaries[i - 1] to before boundaries[i]. A batch comes out when its
// bucket is full; what is left follows at the end, bucket by bucket. Errors go past the buckets.
// With max_tokens a bucket is full where one more element would make its rows times its longest row
// more than that.

#include <algorithm>
#include <deque>
#include <optional>

#include "data/ragged.h"
#include "datasets/batching.h"
#include "datasets/datasets.h"
#include "datasets/held_memory.h"
#include "datasets/padding.h"
#include "datasets/refill.h"
#include "datasets/resharding.h"
#include "datasets/shape_vote.h"
#include "datasets/stacking.h"
#include "datasets/token_budget.h"

namespace penstock {
namespace {

struct Buckets {
  std::vector<int64_t> boundaries;   // ascending
  std::vector<int64_t> batch_sizes;  // one more
  bool to_boundary, no_padding, drop_remainder;

  size_t of(int64_t length) const {
    return static_cast<size_t>(std::ranges::upper_bound(boundaries, length) - boundaries.begin());
  }
  // Elements of the bucket are padded to this length; -1: to the longest.
  int64_t padded_length(size_t bucket) const {
    return to_boundary && bucket < boundaries.size() ? boundaries[bucket] - 1 : -1;
  }
};

// The paddings of one bucket: open sizes are those of its boundary.
std::vector<Padding> bucket_paddings(const std::vector<Padding>& paddings, int64_t length) {
  std::vector<Padding> out = paddings;
  for (Padding& p : out) {
    if (length < 0 || !p.shape.has_rank()) continue;
    std::vector<int64_t> sizes(p.shape.sizes().begin(), p.shape.sizes().end());
    std::ranges::replace_if(sizes, [](int64_t s) { return s < 0; }, length);
    p.shape = Shape(std::move(sizes));
  }
  return out;
}

class BucketCursor final : public Cursor {
 public:
  BucketCursor(const PlanPtr& node, const OpenContext& context, Buckets buckets)
      : buckets_(std::move(buckets)),
        leaves_(node->inputs[0]->spec.leaves()),
        shapes_(leaves_),
        length_(context.program(*node, "element_length_func")),
        input_(context.open_input(*node)),
        mark_each_(context.run->options().block_rows == 1) {
    refill_.start(*input_, context.resumed<HeldRows>(*node));
    std::vector<Padding> paddings;
    if (!buckets_.no_padding) {
      paddings = open_paddings(context, *node);
    }
    const TokenBudget budget = open_token_budget(context, *node);
    for (size_t b = 0; b < buckets_.batch_sizes.size(); ++b) {
      Bucket bucket{std::vector<RowsToPad>(leaves_.size()),
                    {},
                    {},
                    {},
                    budget,
                    bucket_paddings(paddings, buckets_.padded_length(b)),
                    std::nullopt};
      if (!buckets_.no_padding) bucket.check.emplace(leaves_, bucket.paddings);
      filled_.push_back(std::move(bucket));
    }
  }

 protected:
  Poll next(Block* out, const Pull& pull) override {
    for (;;) {
      if (!misfits_.empty()) return give_misfit(out);
      if (full_ >= 0) return emit(&filled_[static_cast<size_t>(std::exchange(full_, -1))], out);
      if (ended_) {
        const auto rest =
            std::ranges::find_if(filled_, [](const Bucket& b) { return !b.arrived.empty(); });
        if (rest == filled_.end()) return Poll::end;
        if (settle(&*rest)) continue;
        if (!buckets_.drop_remainder) return emit(&*rest, out);
        *rest = Bucket();
        continue;
      }
      if (at_ == in_.rows) {
        const Poll poll = pull_rows(pull);
        if (poll == Poll::pending) return poll;
        continue;
      }
      const int64_t row = at_;
      if (refill_.is_gone(ordinal(row))) {
        ++at_;
        continue;
      }
      if (const ErrorPtr* e = lengths_.error_at(row)) {
        ++at_;
        *out = error_block(*e, identity().columns, in_.origin.slice(row));
        mark(out);
        return Poll::ready;
      }
      add(row);
    }
  }

 private:
  struct Bucket {
    std::vector<RowsToPad> rows;   // of each component
    std::vector<int64_t> arrived;  // which rows of the input they are
    std::vector<Origin> origins;   // of each
    ShapeVote vote;                // without padding, where shapes may differ
    TokenBudget budget;
    std::vector<Padding> paddings;
    std::optional<PaddingCheck> check;
    int64_t rows_held() const { return static_cast<int64_t>(arrived.size()); }
  };

  Poll pull_rows(const Pull& pull) {
    constexpr int64_t kAtOnce = 1024;
    at_ = 0;
    in_ = Block();
    const Poll poll = input_->pull(&in_, {kAtOnce, pull.waker});
    if (poll == Poll::ready) {
      refill_.note(*input_, in_.rows);
      Block consumed = in_;
      lengths_ = Block();
      length_->run(consumed, &lengths_);
    } else {
      in_ = Block();
      ended_ = poll == Poll::end;
    }
    return poll;
  }

  // The row joins its bucket; where a budget leaves no room for it, the bucket is full without it.
  void add(int64_t row) {
    const int64_t length = integer_at(lengths_.columns[0].row(row));
    const size_t index = buckets_.of(length);
    Bucket& bucket = filled_[index];
    try {
      if (buckets_.to_boundary && index == buckets_.boundaries.size()) {
        throw Error(Code::invalid_argument,
                    "an element of length " + std::to_string(length) +
                        " has no boundary to be padded to; the last one is " +
                        std::to_string(buckets_.boundaries.back()));
      }
      const ErrorPtr misfit = bucket.check ? bucket.check->check(in_, row) : nullptr;
      if (misfit) throw Error(*misfit);
      const int64_t padded = buckets_.padded_length(index);
      if (!bucket.budget.add(padded >= 0 ? padded : length, bucket.rows_held())) {
        settle(&bucket);
        full_ = static_cast<int64_t>(index);
        return;
      }
    } catch (const Error&) {
      ++at_;
      throw;
    }
    ++at_;
    held_.grow(
        bytes_of_row(),
        [this] {
          int64_t rows = 0;
          for (const Bucket& b : filled_) rows += b.rows_held();
          return std::to_string(rows) + " elements in buckets that are not full";
        },
        "use smaller batch_sizes, or fewer boundaries");
    bucket.origins.push_back(in_.origin.slice(row));
    bucket.arrived.push_back(ordinal(row));
    for (size_t c = 0; c < leaves_.size(); ++c) bucket.rows[c].add(in_.columns[c].row(row));
    const int64_t size = buckets_.batch_sizes[index];
    if (buckets_.no_padding && shapes_.may_differ()) {
      bucket.vote.add(shapes_.of(in_, row));
      if (!bucket.vote.is_decided(size)) return;
      settle(&bucket);
    }
    if (bucket.rows_held() == size) full_ = static_cast<int64_t>(index);
  }

  // Takes the rows out of the bucket whose shapes do not agree with most; whether there are any.
  bool settle(Bucket* bucket) {
    if (bucket->vote.most() == bucket->vote.rows()) return false;
    const RowShapes::Shapes winner = bucket->vote.winner();
    const ShapeVote::Verdict verdict = bucket->vote.decide();
    for (const RowError& misfit : verdict.misfits)
      misfits_.push_back({misfit.error, bucket->origins[static_cast<size_t>(misfit.row)]});
    std::vector<int64_t> arrived;
    std::vector<Origin> origins;
    for (const int32_t row : verdict.kept) {
      arrived.push_back(bucket->arrived[static_cast<size_t>(row)]);
      origins.push_back(bucket->origins[static_cast<size_t>(row)]);
    }
    for (RowsToPad& rows : bucket->rows) rows.keep(verdict.kept);
    held_.shrink((bucket->rows_held() - static_cast<int64_t>(arrived.size())) * bytes_of_row());
    bucket->arrived = std::move(arrived);
    bucket->origins = std::move(origins);
    bucket->vote.add(winner, bucket->rows_held());
    return true;
  }

  Poll give_misfit(Block* out) {
    *out = error_block(misfits_.front().error, identity().columns, misfits_.front().origin);
    misfits_.pop_front();
    // A bucket that is to be given has no mark: taken up again, it could have room for more.
    if (misfits_.empty() && full_ < 0) mark(out);
    return Poll::ready;
  }

  // Beside buffers: a tensor of each component, and the row's number and origin.
  int64_t bytes_of_row() const {
    return static_cast<int64_t>(leaves_.size() * sizeof(Tensor) + sizeof(int64_t) + sizeof(Origin));
  }

  Poll emit(Bucket* bucket, Block* out) {
    const int64_t n = bucket->rows_held();
    held_.shrink(n * bytes_of_row());
    out->clear();
    out->rows = 1;
    out->origin = bucket->origins.front();
    bucket->arrived.clear();
    bucket->origins.clear();
    bucket->vote = ShapeVote();
    if (buckets_.no_padding) {
      for (size_t c = 0; c < leaves_.size(); ++c)
        out->columns.push_back(stack_rows(bucket->rows[c].take(), leaves_[c], 1, n, &out->errors));
    } else {
      pad_components(bucket->rows, bucket->paddings, out);
    }
    mark(out);
    return Poll::ready;
  }

  // A mark names all rows held: one for each such number of rows is enough.
  void mark(Block* out) {
    const int64_t head = ordinal(at_);
    const bool due = head - marked_at_ >= marked_rows_ || ended_ || mark_each_;
    if (!identity().marks || !due || !misfits_.empty()) return;
    std::vector<int64_t> held;
    for (const Bucket& b : filled_) held.insert(held.end(), b.arrived.begin(), b.arrived.end());
    HeldRows fields;
    const StreamPosition before = refill_.hold(head, std::move(held), &fields);
    set_mark(out, fields, {before});
    marked_at_ = head;
    marked_rows_ = std::ssize(fields.rows);
  }

  // Which row of the input a row of in_ is.
  int64_t ordinal(int64_t row) const { return refill_.rows() - in_.rows + row; }

  const Buckets buckets_;
  const std::vector<LeafSpec> leaves_;  // of an element
  const RowShapes shapes_;
  const std::shared_ptr<const CompiledFunction> length_;
  CursorPtr input_;
  const bool mark_each_;
  Refill refill_;
  int64_t marked_at_ = 0;    // rows of the input before the last mark
  int64_t marked_rows_ = 0;  // held then
  std::vector<Bucket> filled_;
  HeldMemory held_;    // by filled_
  int64_t full_ = -1;  // the bucket to be given next
  struct Misfit {
    ErrorPtr error;
    Origin origin;
  };
  std::deque<Misfit> misfits_;  // to be given before it
  Block in_, lengths_;
  int64_t at_ = 0;
  bool ended_ = false;
};

// The arguments; throws ArgumentError.
Buckets buckets_of(const PlanNode& node) {
  Buckets out;
  out.to_boundary = node.arg("pad_to_bucket_boundary").as_bool();
  out.no_padding = node.arg("no_padding").as_bool();
  out.drop_remainder = node.arg("drop_remainder").as_bool();
  out.boundaries = node.arg("boundaries").as_ints();
  for (size_t i = 1; i < out.boundaries.size(); ++i) {
    if (out.boundaries[i] <= out.boundaries[i - 1]) {
      NodeDraft::fail("boundaries", "must ascend: " + std::to_string(out.boundaries[i - 1]) +
                                        " is followed by " + std::to_string(out.boundaries[i]));
    }
  }
  const Attr& sizes = node.arg("batch_sizes");
  if (sizes.is_none()) {
    if (node.arg("max_tokens").is_none())
      NodeDraft::fail("batch_sizes", "is needed, or max_tokens");
    out.batch_sizes.assign(out.boundaries.size() + 1, INT64_MAX);
    return out;
  }
  out.batch_sizes = sizes.as_ints();
  if (out.batch_sizes.size() != out.boundaries.size() + 1) {
    NodeDraft::fail("batch_sizes", "must be one more than the boundaries: " +
                                       std::to_string(out.batch_sizes.size()) + " for " +
                                       std::to_string(out.boundaries.size()));
  }
  for (const int64_t size : out.batch_sizes) {
    if (size < 1) NodeDraft::fail("batch_sizes", "sizes must be positive: " + std::to_string(size));
  }
  return out;
}

void infer(NodeDraft& draft) {
  const Spec& length = draft.node.function("element_length_func")->output;
  if (!length.is_leaf() || !length.leaf.is_tensor() || !is_integer(length.leaf.dtype) ||
      (length.leaf.shape.has_rank() && length.leaf.shape.rank() != 0)) {
    NodeDraft::fail("element_length_func", "gives " + length.text() + ", expected one integer");
  }
  const bool by_tokens = check_max_tokens(draft);
  const Buckets buckets = buckets_of(draft.node);
  if (by_tokens && buckets.drop_remainder)
    NodeDraft::fail("drop_remainder", "has no meaning with max_tokens: no batch is full");
  if (buckets.to_boundary && buckets.boundaries.empty())
    NodeDraft::fail("pad_to_bucket_boundary", "needs boundaries");
  std::vector<LeafSpec> leaves = draft.input().spec.leaves();
  if (buckets.no_padding) {
    for (LeafSpec& leaf : leaves) leaf = batched_leaf(leaf, Shape::kUnknown);
  } else {
    for (const LeafSpec& leaf : leaves) {
      if ((leaf.kind == LeafSpec::Kind::ragged && !is_dense(leaf)) ||
          leaf.kind == LeafSpec::Kind::sparse) {
        NodeDraft::fail("no_padding", "is needed for " + leaf.text() +
                                          ", which cannot be padded: no_padding=true");
      }
    }
    const std::vector<Padding> how = read_paddings(draft.input(), draft.node.args["padded_shapes"],
                                                   draft.node.args["padding_values"]);
    for (size_t i = 0; i < leaves.size(); ++i)
      leaves[i] = LeafSpec::tensor(leaves[i].dtype, how[i].shape.with_front(Shape::kUnknown));
  }
  draft.node.spec = draft.input().spec.with_leaves(leaves);
  draft.node.cardinality = draft.input().cardinality == kInfinite ? kInfinite : kUnknown;
}

}  // namespace

OperatorDef bucket_by_sequence_length_operator() {
  OperatorDef op;
  op.name = "bucket_by_sequence_length";
  op.doc = "Elements of like length batched together, padded to the longest of their batch.";
  const auto flag = [](const char* name) {
    return optional(name, Param::Kind::boolean, Attr::boolean(false));
  };
  op.params = {required("input", Param::Kind::dataset),
               required("element_length_func", Param::Kind::function),
               required("boundaries", Param::Kind::any),
               optional("batch_sizes", Param::Kind::any, {}),
               optional("padded_shapes", Param::Kind::any, {}),
               optional("padding_values", Param::Kind::any, {}),
               flag("pad_to_bucket_boundary"),
               flag("no_padding"),
               flag("drop_remainder"),
               option("max_tokens", Param::Kind::tensor, {})};
  op.rows = Rows::regroup;
  op.resharding = resharding_in_order<HeldRows>();
  op.function_input = [](const NodeDraft& draft, std::string_view) { return draft.input().spec; };
  op.infer = infer;
  op.open = [](const PlanPtr& node, OpenContext& context) -> CursorPtr {
    return std::make_unique<BucketCursor>(node, context, buckets_of(*node));
  };
  return op;
}

}  // namespace penstock
