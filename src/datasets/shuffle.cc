// shuffle(buffer_size, seed): each output is drawn from a window of buffer_size elements, whose
// place is then filled with the next input. buffer_size none: the whole input.
//
// Draw k belongs to output k of this pass and a drawn slot is always filled by the input that comes
// next, so the order depends on the seed and the epoch alone, on neither block sizes nor threads.
// An error is a value in a slot. A mark holds the age of each slot's element (how many inputs ago
// it came); taken up, the input is read again from the oldest and what is not in a slot is dropped.

#include <algorithm>
#include <unordered_map>

#include "base/random.h"
#include "datasets/datasets.h"
#include "datasets/shuffle.h"
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
  // The k that comes next. REQUIRES: none was drawn yet.
  void start(uint64_t k) { k_ = k; }

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
  ShuffleCursor(CursorPtr input, Run* run, size_t size, const Draws& draws, const Spec& spec,
                const std::optional<ShuffleMark>& from)
      : input_(std::move(input)), run_(run), size_(size), draws_(draws) {
    for (const LeafSpec& leaf : spec.leaves()) columns_.emplace_back(leaf);
    trail_.start(*input_);
    if (from) resume(*from);
  }

 protected:
  Poll next(Block* out, const Pull& pull) override {
    for (;;) {
      run_->check_cancelled();
      if (!live_.empty()) {
        if (const Poll poll = refill(pull.waker); poll != Poll::ready) return poll;
        continue;
      }
      absorb();
      if (ended_ && count() == 0) return Poll::end;
      if (hole_ == kNone && (ended_ || count() == size_))
        return draw(out, static_cast<size_t>(pull.max_rows));
      in_.clear();
      at_ = 0;
      const Poll poll = input_->pull(&in_, {wanted(pull.max_rows), pull.waker});
      if (poll == Poll::pending) return poll;
      if (poll == Poll::end) {
        end_input();
        close_hole();
      } else if (identity().marks) {
        trail_.note(*input_, in_.rows);
      }
    }
  }

 private:
  static constexpr size_t kNone = SIZE_MAX;
  struct Id {
    uint64_t lineage, epoch;
  };

  void end_input() {
    ended_ = true;
    in_ = Block();
    at_ = 0;
    input_.reset();
  }

  // The slots' ages become the inputs, counted from the oldest, that are to be put back.
  void resume(const ShuffleMark& from) {
    const std::vector<int64_t>& ages = from.ages;
    draws_.start(static_cast<uint64_t>(from.draws));
    drawn_ = from.draws;
    will_end_ = from.input_ended;
    if (ages.size() > size_ || std::ranges::count(ages, 0) > 1) {
      throw Error(Code::data_loss,
                  "the checkpoint is damaged: the slots of `shuffle` do not fit its buffer");
    }
    ids_.resize(ages.size());
    arrived_.resize(ages.size());
    for (SlotColumn& c : columns_) c.reserve(ages.size());
    const int64_t oldest = oldest_age(from);
    for (size_t slot = 0; slot < ages.size(); ++slot) {
      arrived_[slot] = oldest - ages[slot];
      if (ages[slot] > 0) {
        live_.push_back({arrived_[slot], slot});
      } else {
        hole_ = slot;
      }
    }
    std::ranges::sort(live_, {}, &Live::row);
    head_ = oldest;
    marked_at_ = drawn_;
    if (live_.empty() && will_end_) end_input();
  }

  // Puts rows that a mark spoke of back into their slots; ready when some were.
  Poll refill(Waker* waker) {
    const int64_t from = trail_.rows();
    const Poll poll =
        input_->pull(&in_, {std::min(run_->options().block_rows, head_ - from), waker});
    if (poll == Poll::pending) return poll;
    if (poll == Poll::end) {
      live_.clear();
      ids_.clear();
      arrived_.clear();
      hole_ = kNone;
      end_input();
      throw Error(Code::failed_precondition,
                  "the input has become shorter since the checkpoint was taken");
    }
    trail_.note(*input_, in_.rows);
    for (; put_back_ < live_.size() && live_[put_back_].row < trail_.rows(); ++put_back_) {
      const auto [row, slot] = live_[put_back_];
      for (size_t c = 0; c < columns_.size(); ++c) columns_[c].fill(slot, &in_, c, row - from, 1);
      keep_error(slot, row - from);
      ids_[slot] = id_at(row - from);
    }
    in_.clear();
    at_ = 0;
    if (trail_.rows() == head_) {
      live_.clear();
      if (will_end_) end_input();
    }
    return Poll::ready;
  }

  // Now and then, so that its size is nothing beside the elements given.
  void mark(Block* out) {
    drawn_ += out->rows;
    if (!identity().marks || drawn_ - marked_at_ < static_cast<int64_t>(count())) return;
    marked_at_ = drawn_;
    const int64_t head = trail_.rows() - static_cast<int64_t>(at_hand());
    ShuffleMark fields{drawn_, ended_, {}};
    fields.ages.reserve(count());
    for (size_t slot = 0; slot < count(); ++slot)
      fields.ages.push_back(slot == hole_ ? 0 : head - arrived_[slot]);
    const int64_t oldest = head - oldest_age(fields);
    set_mark(out, fields, {trail_.before(oldest)});
    trail_.forget(oldest);
  }

  size_t count() const { return ids_.size(); }
  size_t at_hand() const { return static_cast<size_t>(in_.rows - at_); }
  Id id_at(int64_t row) const { return {in_.origin.lineage(row), in_.origin.epoch(row)}; }
  // Which input of the trail row `row` of in_ is.
  int64_t arrival(int64_t row) const { return trail_.rows() - in_.rows + row; }

  int64_t wanted(int64_t max_rows) const {
    const auto missing = static_cast<int64_t>(std::min<size_t>(size_ - count(), 1 << 20));
    return std::min(run_->options().block_rows, std::max(max_rows, missing));
  }

  // Rows at hand go into the hole and the slots not yet filled.
  void absorb() {
    if (at_hand() == 0) return;
    if (hole_ != kNone) {
      put(hole_, 1);
      const size_t hole = std::exchange(hole_, kNone);
      keep_error(hole, at_);
      if (identity().marks) arrived_[hole] = arrival(at_);
      ids_[hole] = id_at(at_++);
    }
    const size_t n = std::min(size_ - count(), at_hand()), first = count();
    if (n == 0) return;
    put(first, n);
    for (size_t i = 0; i < n; ++i, ++at_) {
      ids_.push_back(id_at(at_));
      if (identity().marks) arrived_.push_back(arrival(at_));
      if (!in_.errors.empty()) keep_error(first + i, at_);
    }
  }

  // The next n rows at hand to slots [slot, slot + n).
  void put(size_t slot, size_t n) {
    try {
      for (SlotColumn& c : columns_) c.reserve(slot + n);
      for (size_t c = 0; c < columns_.size(); ++c) columns_[c].fill(slot, &in_, c, at_, n);
    } catch (const Error&) {
      at_ += static_cast<int64_t>(n);  // what does not fit is lost, and said to be
      throw;
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
    if (identity().marks) {
      arrived_[hole_] = arrived_[last];
      arrived_.pop_back();
    }
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
    RowIds lineages(n), epochs(n);
    const bool errors = !failed_.empty() || !in_.errors.empty(), marks = identity().marks;
    for (size_t i = 0; i < n; ++i) {
      const size_t slot = slots_[i];
      lineages[i] = ids_[slot].lineage;
      epochs[i] = ids_[slot].epoch;
      if (errors) give_error(slot, i, out);
      if (ended_) {
        if (errors) move_error(count() - 1, slot);
        ids_[slot] = ids_.back();
        ids_.pop_back();
        if (marks) {
          arrived_[slot] = arrived_.back();
          arrived_.pop_back();
        }
      } else if (i < refills) {
        if (errors) keep_error(slot, at_);
        if (marks) arrived_[slot] = arrival(at_);
        ids_[slot] = id_at(at_++);
      } else {
        hole_ = slot;
      }
    }
    out->origin = Origin::of(std::move(lineages), std::move(epochs));
    mark(out);
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
  // For marks: which input each slot holds, where the input was, outputs so far and at the last
  // mark.
  std::vector<int64_t> arrived_;
  InputTrail trail_;
  int64_t drawn_ = 0, marked_at_ = 0;
  // While being taken up: inputs to be put back, in order, and how many are.
  struct Live {
    int64_t row;
    size_t slot;
  };
  std::vector<Live> live_;
  size_t put_back_ = 0;
  int64_t head_ = 0;  // inputs to read again
  bool will_end_ = false;
};

}  // namespace

int64_t oldest_age(const ShuffleMark& mark) {
  return mark.ages.empty() ? 0 : std::ranges::max(mark.ages);
}

namespace {

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
  op.rows = Rows::same;
  op.hands_on = op.random = true;
  op.resharding = shuffle_resharding();
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
                                           static_cast<size_t>(n), draws, node->spec,
                                           context.resumed<ShuffleMark>(*node));
  };
  return op;
}

}  // namespace penstock
