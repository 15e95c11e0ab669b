// rebatch(n), rebatch([n1, n2, ...]): batches cut anew, to the sizes in turn.
//
// The items of the incoming batches are joined and cut again; an error takes no slot. A size of 0
// in a list gives an empty batch; one size at least is positive, or it would never end.

#include <algorithm>

#include "data/ragged.h"
#include "datasets/datasets.h"
#include "datasets/items.h"
#include "datasets/pending_rows.h"
#include "datasets/unbatching.h"

namespace penstock {
namespace {

// At the position of the items, which is a mark of unbatching: nothing is pending.
struct RebatchMark {
  static constexpr MarkForm kForm{"rebatch", 1};
  int64_t turn = 0;  // index of the size of the next batch
  static void fields(auto& mark, auto& f) { f.count("turn", mark.turn); }
};

class RebatchCursor final : public Cursor {
 public:
  RebatchCursor(CursorPtr items, std::vector<int64_t> sizes, bool drop_remainder,
                std::vector<LeafSpec> leaves, int64_t turn)
      : items_(std::move(items)),
        sizes_(std::move(sizes)),
        drop_remainder_(drop_remainder),
        leaves_(std::move(leaves)),
        pending_(leaves_),
        turn_(static_cast<size_t>(turn) % sizes_.size()) {}

 protected:
  Poll next(Block* out, const Pull& pull) override {
    for (;;) {
      const int64_t size = sizes_[turn_];
      if (pending_.has_error()) {
        *out = pending_.take_error();
        return Poll::ready;
      }
      if (ended_ && (pending_.rows() == 0 || drop_remainder_)) return Poll::end;
      if (ended_ || pending_.ready() == size) return emit(out);
      // Never more than what this batch lacks: the next one may be empty, and the end unknown.
      Block in;
      const Poll poll = items_->pull(&in, {pending_.lacking(1, size), pull.waker});
      if (poll == Poll::pending) return poll;
      if (poll == Poll::end) {
        ended_ = true;
        pending_.settle();
      } else {
        if (pending_.rows() == 0) start_batch(in);
        pending_.add(in, size);
      }
    }
  }

 private:
  // Frames of next stand on each other in deep pipelines, so what is not needed below stays out.
  // An error takes no place in the batch, so the batch does not begin with it.
  [[gnu::noinline]] void start_batch(const Block& in) {
    for (int64_t row = 0; row < in.rows; ++row) {
      if (in.error_at(row)) continue;
      origin_ = in.origin.slice(row);
      return;
    }
  }

  [[gnu::noinline]] Poll emit(Block* out) {
    turn_ = (turn_ + 1) % sizes_.size();
    if (const int64_t rows = pending_.rows(); rows > 0) {
      pending_.take(1, rows, out);
    } else {
      out->clear();
      out->rows = 1;
      for (const LeafSpec& leaf : leaves_) out->columns.push_back(empty_batch(leaf));
    }
    out->origin = origin_;
    set_mark(out, RebatchMark{static_cast<int64_t>(turn_)}, {items_->position()});
    return Poll::ready;
  }

  static Column empty_batch(const LeafSpec& leaf) {
    Dims dims{0};
    for (int axis = 0; leaf.shape.has_rank() && axis < leaf.shape.rank(); ++axis)
      dims.push_back(std::max<int64_t>(0, leaf.shape[axis]));
    return Column::dense(leaf.dtype, dims, 1);
  }

  CursorPtr items_;
  const std::vector<int64_t> sizes_;
  const bool drop_remainder_;
  const std::vector<LeafSpec> leaves_;  // of an item
  PendingRows pending_;
  Origin origin_;  // of the first item of this batch
  size_t turn_;    // whose size this batch has
  bool ended_ = false;
};

// The items of the input, from where the mark says.
CursorPtr open_items(const PlanNode& node, const OpenContext& context) {
  StreamPosition at;
  if (const StageMark* mark = context.resume(node)) at = mark->input();
  UnbatchMark from;
  OpenContext below = context.deeper();
  if (const StageMark* items = stage_mark(at.mark)) {
    from = decoded_mark<UnbatchMark>(*items);
    below.at = items->input();
  }
  CursorPtr out = open_unbatching(below.open(node.inputs[0]), node.inputs[0]->spec.leaves(), from);
  out->set_identity({nullptr, node.op->name, static_cast<size_t>(node.spec.leaf_count()), &node,
                     context.run->options().marks, false});
  out->resume_at(at);
  return out;
}

std::vector<int64_t> sizes_of(const Attr& sizes) {
  if (sizes.is_tensor() && sizes.tensor().dims().rank() == 0) return {sizes.as_int()};
  return sizes.as_ints();
}

void check_sizes(const std::vector<int64_t>& sizes) {
  int64_t most = 0;
  for (const int64_t size : sizes) {
    if (size < 0)
      throw Error(Code::invalid_argument, "a size must not be negative: " + std::to_string(size));
    most = std::max(most, size);
  }
  if (most == 0)
    throw Error(Code::invalid_argument, "one of the sizes must be positive, or it never ends");
}

std::vector<LeafSpec> item_leaves(const Spec& spec) {
  std::vector<LeafSpec> leaves = spec.leaves();
  for (LeafSpec& leaf : leaves) leaf = item_leaf(leaf);
  return leaves;
}

// The first size of every batch, -1 where it may vary.
int64_t static_size(const std::vector<int64_t>& sizes, int64_t input_size, bool drop_remainder) {
  const bool one = std::ranges::all_of(sizes, [&](int64_t s) { return s == sizes[0]; });
  if (!one) return -1;
  const bool whole = input_size >= 0 && input_size % sizes[0] == 0;
  return drop_remainder || whole ? sizes[0] : -1;
}

void infer(NodeDraft& draft) {
  std::vector<LeafSpec> leaves = draft.input().spec.leaves();
  if (leaves.empty()) NodeDraft::fail("input", "at least one component is needed");
  int64_t input_size = -1;
  for (const LeafSpec& leaf : leaves) {
    const int64_t n = first_size(leaf, "cannot rebatch");
    if (n >= 0 && input_size >= 0 && n != input_size) {
      NodeDraft::fail("input",
                      "the components differ in their first size: " + draft.input().spec.text());
    }
    input_size = std::max(input_size, n);
  }
  int64_t size = -1;
  if (const Attr& given = draft.node.args["batch_size"]; !given.is_capture()) {
    try {
      const std::vector<int64_t> sizes = sizes_of(given);
      check_sizes(sizes);
      for (const LeafSpec& leaf : leaves) {
        if (!is_dense(leaf) && std::ranges::find(sizes, 0) != sizes.end())
          NodeDraft::fail("batch_size", "a size of 0 needs dense components");
      }
      size = static_size(sizes, input_size, draft.node.args["drop_remainder"].as_bool());
    } catch (const Error& e) {
      NodeDraft::fail("batch_size", e.message());
    }
  }
  for (LeafSpec& leaf : leaves) {
    LeafSpec batch = row_as_tensor(leaf);  // the items of a row are no rows themselves
    batch.shape = leaf.shape.without_front().with_front(size);
    leaf = batch;
  }
  draft.node.spec = draft.input().spec.with_leaves(leaves);
  draft.node.cardinality = kUnknown;
}

}  // namespace

OperatorDef rebatch_operator() {
  OperatorDef op;
  op.name = "rebatch";
  op.doc = "Batches cut anew to batch_size, a number or a list of sizes that are used in turn.";
  op.params = {required("input", Param::Kind::dataset), required("batch_size", Param::Kind::tensor),
               optional("drop_remainder", Param::Kind::boolean, Attr::boolean(false))};
  op.rows = Rows::regroup;
  op.infer = infer;
  op.open = [](const PlanPtr& node, OpenContext& context) -> CursorPtr {
    std::vector<int64_t> sizes = sizes_of(context.arg(*node, "batch_size"));
    check_sizes(sizes);
    return std::make_unique<RebatchCursor>(
        open_items(*node, context), std::move(sizes), node->arg("drop_remainder").as_bool(),
        item_leaves(node->inputs[0]->spec),
        context.resumed<RebatchMark>(*node).value_or(RebatchMark()).turn);
  };
  return op;
}

}  // namespace penstock
