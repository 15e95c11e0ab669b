// shuffle(buffer_size, seed): each output is drawn from a window of buffer_size elements, whose
// place is then filled with the next input. buffer_size none: the whole input.
//
// Draw k belongs to output k of this pass and a drawn slot is always filled by the input that comes
// next, so the order depends on the seed and the epoch alone, on neither block sizes nor threads.
// An error is a value in a slot.

#include <algorithm>
#include <unordered_map>

#include "base/random.h"
#include "datasets/datasets.h"
#include "datasets/slot_column.h"
#include "runtime/open.h"

namespace penstock {
namespace {

// RandomStream(seed, epoch, mix(lineage, k)).next_below(n) for consecutive k. The first values of
// several streams are made at once: one Philox waits on its multiplications.
class Draws {
 public:
  Draws(uint64_t seed, uint64_t epoch, uint64_t lineage)
      : seed_(seed), epoch_(epoch), lineage_(lineage), key_(epoch == 0 ? seed : mix(seed, epoch)) {}

  size_t next(uint64_t n) {
    if (at_ == kLanes) make();
    const unsigned __int128 product = static_cast<unsigned __int128>(values_[at_]) * n;
    const uint64_t row = rows_[at_++];
    if (static_cast<uint64_t>(product) >= n) return static_cast<size_t>(product >> 64);
    return static_cast<size_t>(
        RandomStream(seed_, epoch_, row).next_below(n));  // the first value may be refused
  }

 private:
  static constexpr size_t kLanes = 8;

  // philox() of base/random.h, lane by lane, in a form that compilers turn into vector code.
  void make() {
    uint32_t c0[kLanes], c1[kLanes], c2[kLanes], c3[kLanes];
    for (size_t i = 0; i < kLanes; ++i) {
      rows_[i] = mix(lineage_, k_++);
      c0[i] = c1[i] = 0;
      c2[i] = static_cast<uint32_t>(rows_[i]);
      c3[i] = static_cast<uint32_t>(rows_[i] >> 32);
    }
    uint32_t key0 = static_cast<uint32_t>(key_), key1 = static_cast<uint32_t>(key_ >> 32);
    for (int round = 0; round < 10; ++round) {
      for (size_t i = 0; i < kLanes; ++i) {
        const uint64_t a = uint64_t{0xD2511F53} * c0[i], b = uint64_t{0xCD9E8D57} * c2[i];
        c0[i] = static_cast<uint32_t>(b >> 32) ^ c1[i] ^ key0;
        c1[i] = static_cast<uint32_t>(b);
        c2[i] = static_cast<uint32_t>(a >> 32) ^ c3[i] ^ key1;
        c3[i] = static_cast<uint32_t>(a);
      }
      key0 += 0x9E3779B9u;
      key1 += 0xBB67AE85u;
    }
    for (size_t i = 0; i < kLanes; ++i) values_[i] = (uint64_t{c0[i]} << 32) | c1[i];
    at_ = 0;
  }

  const uint64_t seed_, epoch_, lineage_, key_;
  uint64_t k_ = 0;
  uint64_t rows_[kLanes], values_[kLanes];
  size_t at_ = kLanes;
};

class ShuffleCursor final : public Cursor {
 public:
  ShuffleCursor(CursorPtr input, Run* run, size_t size, const Draws& draws, const Spec& spec)
      : input_(std::move(input)), run_(run), size_(size), draws_(draws) {
    for (const LeafSpec& leaf : spec.leaves()) columns_.emplace_back(leaf);
  }

 protected:
  Poll next(Block* out, const Pull& pull) override {
    for (;;) {
      run_->check_cancelled();
      absorb();
      if (ended_ && count() == 0) return Poll::end;
      if (hole_ == kNone && (ended_ || count() == size_))
        return draw(out, static_cast<size_t>(pull.max_rows));
      in_.clear();
      at_ = 0;
      const Poll poll = input_->pull(&in_, {wanted(pull.max_rows), pull.waker});
      if (poll == Poll::pending) return poll;
      if (poll == Poll::end) {
        ended_ = true;
        in_ = Block();
        input_.reset();
        close_hole();
      }
    }
  }

 private:
  static constexpr size_t kNone = SIZE_MAX;
  struct Id {
    uint64_t lineage, epoch;
  };

  size_t count() const { return ids_.size(); }
  size_t at_hand() const { return static_cast<size_t>(in_.rows - at_); }
  Id id_at(int64_t row) const { return {in_.origin.lineage(row), in_.origin.epoch(row)}; }

  int64_t wanted(int64_t max_rows) const {
    const auto missing = static_cast<int64_t>(std::min<size_t>(size_ - count(), 1 << 20));
    return std::min(run_->options().block_rows, std::max(max_rows, missing));
  }

  // Rows at hand go into the hole and the slots not yet filled.
  void absorb() {
    if (at_hand() == 0) return;
    if (hole_ != kNone) {
      const size_t hole = std::exchange(hole_, kNone);
      for (size_t c = 0; c < columns_.size(); ++c) columns_[c].fill(hole, &in_, c, at_, 1);
      keep_error(hole, at_);
      ids_[hole] = id_at(at_++);
    }
    const size_t n = std::min(size_ - count(), at_hand()), first = count();
    if (n == 0) return;
    try {
      for (SlotColumn& c : columns_) c.reserve(first + n);
    } catch (const Error&) {
      at_ += static_cast<int64_t>(n);  // what does not fit is lost, and said to be
      throw;
    }
    for (size_t c = 0; c < columns_.size(); ++c) columns_[c].fill(first, &in_, c, at_, n);
    for (size_t i = 0; i < n; ++i, ++at_) {
      ids_.push_back(id_at(at_));
      if (!in_.errors.empty()) keep_error(first + i, at_);
    }
  }

  void keep_error(size_t slot, int64_t row) {
    if (const ErrorPtr* e = in_.error_at(row)) failed_[slot] = *e;
  }

  // An error of the slot becomes the error of output i.
  void give_error(size_t slot, size_t i, Block* out) {
    const auto it = failed_.find(slot);
    if (it == failed_.end()) return;
    out->errors.push_back({static_cast<int64_t>(i), std::move(it->second)});
    failed_.erase(it);
  }

  void move_error(size_t from, size_t to) {
    const auto it = failed_.find(from);
    if (from == to || it == failed_.end()) return;
    failed_[to] = std::move(it->second);
    failed_.erase(it);
  }

  // The input has ended: the last slot takes the place that was to be filled.
  void close_hole() {
    if (hole_ == kNone) return;
    const size_t last = count() - 1;
    for (SlotColumn& c : columns_) c.move(last, hole_);
    move_error(last, hole_);
    ids_[hole_] = ids_[last];
    ids_.pop_back();
    hole_ = kNone;
  }

  // As many outputs as can be drawn now: one for each row at hand and one more, or of what is left.
  Poll draw(Block* out, size_t max_rows) {
    const size_t n = std::min(max_rows, ended_ ? count() : at_hand() + 1);
    const size_t refills = ended_ ? 0 : std::min(n, at_hand());
    for (SlotColumn& c : columns_) c.prepare(n);
    slots_.resize(n);
    for (size_t i = 0; i < n; ++i) slots_[i] = draws_.next(ended_ ? count() - i : count());
    out->clear();
    out->rows = static_cast<int64_t>(n);
    for (size_t c = 0; c < columns_.size(); ++c) {
      if (ended_) {
        columns_[c].drain(slots_, count());
      } else {
        columns_[c].exchange(slots_, refills, &in_, c, at_);
      }
      out->columns.push_back(columns_[c].finish());
    }
    std::vector<uint64_t> lineages(n), epochs(n);
    const bool errors = !failed_.empty() || !in_.errors.empty();
    for (size_t i = 0; i < n; ++i) {
      const size_t slot = slots_[i];
      lineages[i] = ids_[slot].lineage;
      epochs[i] = ids_[slot].epoch;
      if (errors) give_error(slot, i, out);
      if (ended_) {
        if (errors) move_error(count() - 1, slot);
        ids_[slot] = ids_.back();
        ids_.pop_back();
      } else if (i < refills) {
        if (errors) keep_error(slot, at_);
        ids_[slot] = id_at(at_++);
      } else {
        hole_ = slot;
      }
    }
    out->origin = Origin::of(std::move(lineages), std::move(epochs));
    return Poll::ready;
  }

  CursorPtr input_;
  Run* const run_;
  const size_t size_;
  Draws draws_;
  std::vector<SlotColumn> columns_;
  std::vector<Id> ids_;                          // of the slots
  std::unordered_map<size_t, ErrorPtr> failed_;  // slots that hold an error
  size_t hole_ = kNone;                          // drawn, to be filled by the next input
  std::vector<size_t> slots_;                    // being drawn
  Block in_;
  int64_t at_ = 0;  // next row of in_
  bool ended_ = false;
};

bool whole_input(const Attr& size) {
  return size.is_none() || (size.is_tensor() && size.as_int() == -2);
}

}  // namespace

OperatorDef shuffle_operator() {
  OperatorDef op;
  op.name = "shuffle";
  op.doc = "Elements in random order, drawn from a window of buffer_size (none: all).";
  op.params = {required("input", Param::Kind::dataset),
               required("buffer_size", Param::Kind::tensor),
               optional("seed", Param::Kind::integer, {}),
               optional("reshuffle_each_iteration", Param::Kind::boolean, Attr::boolean(true))};
  op.params[1].accepts_none = true;
  op.keeps_rows = op.random = true;
  op.infer = [](NodeDraft& draft) {
    if (!whole_input(draft.node.args["buffer_size"]))
      draft.int_at_least("buffer_size", 1, "must be positive, or none for the whole input", 1);
    draft.node.spec = draft.input().spec;
    draft.node.cardinality = draft.input().cardinality;
  };
  op.open = [](const PlanPtr& node, OpenContext& context) -> CursorPtr {
    const Attr size = context.arg(*node, "buffer_size");
    const int64_t n = whole_input(size) ? INT64_MAX : size.as_int();
    if (n < 1)
      throw Error(Code::invalid_argument, "buffer_size must be positive: " + std::to_string(n));
    const bool anew = node->arg("reshuffle_each_iteration").as_bool();
    const Draws draws(static_cast<uint64_t>(node->arg("seed").as_int()), anew ? context.epoch : 0,
                      context.lineage);
    return std::make_unique<ShuffleCursor>(context.open_input(*node), context.run,
                                           static_cast<size_t>(n), draws, node->spec);
  };
  return op;
}

}  // namespace penstock
