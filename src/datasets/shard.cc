// shard(num_shards, index): every num_shards-th element, from `index` on.
//
// Counts positions: an error of another shard's element counts and is not seen, so shards never
// shift. A run on all shards can go on with another number of them (format/checkpoint.md).

#include "datasets/datasets.h"
#include "datasets/share.h"
#include "runtime/indexed.h"
#include "runtime/open.h"

namespace penstock {
namespace {

// Behind another number of shards it has what those had left over (datasets/reshard.h).
class ShardCursor final : public Cursor {
 public:
  ShardCursor(CursorPtr input, int64_t shards, int64_t index, const std::optional<ShardMark>& from)
      : input_(std::move(input)), of_shard_(Share::of_shard(shards, index)), share_(of_shard_) {
    if (!from) return;
    share_ = Share::of(*from, of_shard_);
    position_ = from->begin;
  }

 protected:
  Poll next(Block* out, const Pull& pull) override {
    for (;;) {
      Block in;
      const Poll poll = input_->pull(&in, pull);
      if (poll != Poll::ready) return poll;
      kept_.clear();
      share_.pick(position_, in.rows, &kept_);
      position_ += in.rows;
      if (kept_.empty()) continue;
      *out = static_cast<int64_t>(kept_.size()) == in.rows ? std::move(in) : in.gather(kept_);
      mark(out);
      return Poll::ready;
    }
  }

 private:
  // A list is said now and then, so that its size is nothing beside the elements given.
  void mark(Block* out) {
    if (!identity().marks) return;
    unmarked_ += out->rows;
    if (unmarked_ < share_.listed_from(position_)) return;
    unmarked_ = 0;
    set_mark(out, share_.mark(of_shard_, position_), {input_->position()});
  }

  CursorPtr input_;
  const Share of_shard_;
  Share share_;
  std::vector<int32_t> kept_;
  int64_t position_ = 0;  // elements of the input so far
  int64_t unmarked_ = 0;  // elements given since the last mark
};

int64_t rows_of_shard(int64_t rows, int64_t shards, int64_t index) {
  return rows / shards + (index < rows % shards ? 1 : 0);
}

void check(int64_t shards, int64_t index) {
  if (shards < 1) NodeDraft::fail("num_shards", "must be positive: " + std::to_string(shards));
  if (index < 0 || index >= shards) {
    NodeDraft::fail("index", "must lie between 0 and " + std::to_string(shards - 1) + ": " +
                                 std::to_string(index));
  }
}

}  // namespace

OperatorDef shard_operator() {
  OperatorDef op;
  op.name = "shard";
  op.doc = "Every num_shards-th element, from `index` on.";
  op.params = {required("input", Param::Kind::dataset), required("num_shards", Param::Kind::tensor),
               required("index", Param::Kind::tensor)};
  op.rows = Rows::subset;
  op.hands_on = op.by_place = true;
  op.deals_rows = true;
  op.infer = [](NodeDraft& draft) {
    draft.node.spec = draft.input().spec;
    const Attr &shards = draft.node.args["num_shards"], &index = draft.node.args["index"];
    const int64_t n = draft.input().cardinality;
    draft.node.cardinality = n < 0 ? n : kUnknown;
    if (shards.is_capture() || index.is_capture()) return;
    check(shards.as_int(), index.as_int());
    if (n >= 0) draft.node.cardinality = rows_of_shard(n, shards.as_int(), index.as_int());
  };
  op.open = [](const PlanPtr& node, OpenContext& context) -> CursorPtr {
    const int64_t shards = context.int_arg(*node, "num_shards"),
                  index = context.int_arg(*node, "index");
    try {
      check(shards, index);
    } catch (const ArgumentError& e) {
      throw Error(Code::invalid_argument, e.param + " " + e.message);
    }
    return std::make_unique<ShardCursor>(context.open_input(*node), shards, index,
                                         context.resumed<ShardMark>(*node));
  };
  op.open_indexed = [](const PlanPtr& node, const OpenContext& context) {
    const int64_t shards = context.int_arg(*node, "num_shards"),
                  index = context.int_arg(*node, "index");
    IndexedPtr input = open_indexed_input(*node, context);
    const int64_t rows = input->rows();
    return reindexed(std::move(input),
                     rows == INT64_MAX ? rows : rows_of_shard(rows, shards, index),
                     [shards, index](int64_t i) {
                       // Without end there is a last index all the same.
                       return i <= (INT64_MAX - index) / shards ? i * shards + index : INT64_MAX;
                     });
  };
  return op;
}

}  // namespace penstock
