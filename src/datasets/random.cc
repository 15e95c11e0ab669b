// random(seed, rerandomize_each_iteration=false): uniform numbers of 32 bits as int64, without end.
//
// Number i depends on the seed and i alone; with rerandomize_each_iteration on the pass too.

#include <algorithm>

#include "base/random.h"
#include "datasets/datasets.h"
#include "runtime/open.h"

namespace penstock {
namespace {

class RandomCursor final : public Cursor {
 public:
  RandomCursor(uint64_t seed, uint64_t epoch, const PlanNode& node, const OpenContext& context)
      : seed_(seed),
        epoch_(epoch),
        context_(context),
        position_(context.resumed_index(node, kMostResumed)) {}

 protected:
  Poll next(Block* out, const Pull& pull) override {
    const int64_t rows = std::min(pull.max_rows, context_.run->options().block_rows);
    out->clear();
    out->rows = rows;
    out->origin = source_origin(context_, position_);
    Column column = Column::dense(DType::int64, {}, rows);
    for (int64_t i = 0; i < rows; ++i) {
      column.mutable_entries<int64_t>()[i] =
          RandomStream(seed_, epoch_, out->origin.lineage(i)).next_uint32();
    }
    out->columns.push_back(std::move(column));
    position_ += rows;
    set_mark(out, IndexMark{position_});
    return Poll::ready;
  }

 private:
  const uint64_t seed_, epoch_;
  const OpenContext context_;
  int64_t position_;
};

}  // namespace

OperatorDef random_operator() {
  OperatorDef op;
  op.name = "random";
  op.doc = "Uniform numbers from 0 to 2**32 - 1, without end.";
  op.params = {optional("seed", Param::Kind::integer, {}),
               optional("rerandomize_each_iteration", Param::Kind::boolean, Attr::boolean(false))};
  op.source = op.random = true;
  op.infer = [](NodeDraft& draft) {
    draft.node.spec = Spec::tensor(DType::int64, {});
    draft.node.cardinality = kInfinite;
  };
  op.open = [](const PlanPtr& node, OpenContext& context) -> CursorPtr {
    const Attr& anew = node->arg("rerandomize_each_iteration");
    return std::make_unique<RandomCursor>(static_cast<uint64_t>(node->arg("seed").as_int()),
                                          !anew.is_none() && anew.as_bool() ? context.epoch : 0,
                                          *node, context);
  };
  return op;
}

}  // namespace penstock
