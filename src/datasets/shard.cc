// shard(num_shards, index): every num_shards-th element, from `index` on.
//
// Counts positions: an error of another shard's element counts and is not seen, so shards never
// shift.

#include "datasets/datasets.h"
#include "runtime/indexed.h"
#include "runtime/resumed_count.h"

namespace penstock {
namespace {

class ShardCursor final : public Cursor {
 public:
  ShardCursor(CursorPtr input, int64_t shards, int64_t index, int64_t position)
      : input_(std::move(input)), shards_(shards), index_(index), position_(position) {}

 protected:
  Poll next(Block* out, const Pull& pull) override {
    for (;;) {
      Block in;
      const Poll poll = input_->pull(&in, pull);
      if (poll != Poll::ready) return poll;
      std::vector<int32_t> kept;
      const int64_t phase = (index_ - position_ % shards_ + shards_) % shards_;
      for (int64_t i = phase; i < in.rows; i += shards_) kept.push_back(static_cast<int32_t>(i));
      position_ += in.rows;
      if (kept.empty()) continue;
      *out = static_cast<int64_t>(kept.size()) == in.rows ? std::move(in) : in.gather(kept);
      set_mark(out, {position_}, {input_->position()});
      return Poll::ready;
    }
  }

 private:
  CursorPtr input_;
  const int64_t shards_, index_;
  int64_t position_;  // elements of the input so far
};

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
  op.infer = [](NodeDraft& draft) {
    draft.node.spec = draft.input().spec;
    const Attr &shards = draft.node.args["num_shards"], &index = draft.node.args["index"];
    const int64_t n = draft.input().cardinality;
    draft.node.cardinality = n < 0 ? n : kUnknown;
    if (shards.is_capture() || index.is_capture()) return;
    check(shards.as_int(), index.as_int());
    if (n >= 0)
      draft.node.cardinality = n / shards.as_int() + (index.as_int() < n % shards.as_int() ? 1 : 0);
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
                                         resumed_count(context, *node));
  };
  op.open_indexed = [](const PlanPtr& node, const OpenContext& context) {
    const int64_t shards = context.int_arg(*node, "num_shards"),
                  index = context.int_arg(*node, "index");
    return reindexed(open_indexed_input(*node, context),
                     node->cardinality < 0 ? INT64_MAX : node->cardinality,
                     [shards, index](int64_t i) { return i * shards + index; });
  };
  return op;
}

}  // namespace penstock
