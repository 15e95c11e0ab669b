// global_shuffle(seed, reshuffle_each_iteration=true): all elements in random order, without a
// buffer: output k is the input's element at place(k) of a keyed permutation.
//
// For inputs whose elements can be had by index: place it before maps, so that they run in parallel
// behind it. A checkpoint is one number.

#include <algorithm>
#include <bit>

#include "base/random.h"
#include "datasets/datasets.h"
#include "runtime/indexed.h"

namespace penstock {
namespace {

// A permutation of [0, n): a Feistel network over the next power of four, walked until it falls
// inside.
class Permutation {
 public:
  Permutation(int64_t n, uint64_t key)
      : n_(static_cast<uint64_t>(n)),
        half_bits_(std::max(kLeastHalfBits,
                            (static_cast<int>(std::bit_width(n_ > 1 ? n_ - 1 : 1)) + 1) / 2)),
        mask_((uint64_t{1} << half_bits_) - 1),
        key_(key) {}

  int64_t operator()(int64_t k) const {
    auto x = static_cast<uint64_t>(k);
    do {
      uint64_t left = x >> half_bits_, right = x & mask_;
      for (uint64_t round = 0; round < kRounds; ++round) {
        const uint64_t next = left ^ (mix(key_ + round, right) & mask_);
        left = right;
        right = next;
      }
      x = left << half_bits_ | right;
    } while (x >= n_);
    return static_cast<int64_t>(x);
  }

 private:
  static constexpr uint64_t kRounds = 6;
  static constexpr int kLeastHalfBits = 5;  // on fewer not all permutations are equally likely
  const uint64_t n_;
  const int half_bits_;
  const uint64_t mask_, key_;
};

Permutation permutation_of(const PlanNode& node, int64_t rows, const OpenContext& context) {
  const bool anew = node.arg("reshuffle_each_iteration").as_bool();
  const auto seed = static_cast<uint64_t>(node.arg("seed").as_int());
  return {rows, mix(mix(seed, anew ? context.epoch : 0), context.lineage)};
}

class GlobalShuffleCursor final : public Cursor {
 public:
  GlobalShuffleCursor(IndexedPtr input, const Permutation& place, const PlanNode& node,
                      const OpenContext& context)
      : input_(std::move(input)),
        place_(place),
        run_(context.run),
        k_(context.resumed_index(node, input_->rows())) {}

 protected:
  Poll next(Block* out, const Pull& pull) override {
    if (k_ == input_->rows()) return Poll::end;
    const int64_t rows = std::min({pull.max_rows, input_->rows() - k_, run_->options().block_rows});
    std::vector<int64_t> places;
    for (int64_t i = 0; i < rows; ++i) places.push_back(place_(k_ + i));
    k_ += rows;
    *out = input_->at(places);
    set_mark(out, IndexMark{k_});
    return Poll::ready;
  }

 private:
  IndexedPtr input_;
  const Permutation place_;
  Run* const run_;
  int64_t k_;
};

}  // namespace

OperatorDef global_shuffle_operator() {
  OperatorDef op;
  op.name = "global_shuffle";
  op.doc = "All elements in random order, without a buffer; for inputs that have random access.";
  op.params = {required("input", Param::Kind::dataset), optional("seed", Param::Kind::integer, {}),
               optional("reshuffle_each_iteration", Param::Kind::boolean, Attr::boolean(true))};
  op.rows = Rows::same;
  op.random = true;
  op.infer = [](NodeDraft& draft) {
    if (draft.input().cardinality == kInfinite)
      NodeDraft::fail("input", "is endless; repeat() goes behind global_shuffle");
    if (const PlanNode* stage = not_indexable(draft.input())) {
      NodeDraft::fail("input", "needs elements that can be had by index, `" + stage->op->name +
                                   "` has none; use shuffle");
    }
    draft.node.spec = draft.input().spec;
    draft.node.cardinality = draft.input().cardinality;
  };
  op.open = [](const PlanPtr& node, OpenContext& context) -> CursorPtr {
    IndexedPtr input = open_indexed_input(*node, context);
    const Permutation place = permutation_of(*node, input->rows(), context);
    return std::make_unique<GlobalShuffleCursor>(std::move(input), place, *node, context);
  };
  op.open_indexed = [](const PlanPtr& node, const OpenContext& context) {
    IndexedPtr input = open_indexed_input(*node, context);
    const int64_t rows = input->rows();
    return reindexed(std::move(input), rows, permutation_of(*node, rows, context));
  };
  return op;
}

}  // namespace penstock
