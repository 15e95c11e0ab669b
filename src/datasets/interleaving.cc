// The order is the peer's: a pointer visits the slots in turn and takes up to block_length elements
// from each; a slot whose dataset has ended is filled with the next input only when the pointer
// comes back to it. An error takes no element of a turn and leaves the pointer where it is, so the
// order does not depend on how many threads work ahead.
//
// Datasets that read files are opened before their turn, so that their reading begins: as many as
// files_ahead says, while half of the memory budget is free.
//
// A mark holds for each slot how many inputs ago its dataset was made, and where that dataset
// stands; taken up, the inputs are read again from the oldest.

#include "datasets/interleaving.h"

#include <algorithm>

#include "data/object_list.h"
#include "datasets/block_flat_map.h"
#include "datasets/inner_datasets.h"
#include "datasets/runs.h"
#include "runtime/resumed_count.h"

namespace penstock {
namespace {

class InterleavingCursor final : public Cursor {
 public:
  InterleavingCursor(const PlanPtr& node, const OpenContext& context, const Interleaving& how)
      : how_(how),
        run_(context.run),
        noted_(ScopedOpenedRows::of(node.get())),
        inner_(node, context, how) {
    if (const StageMark* from = context.resume(*node)) resume(*from);
  }

 protected:
  Poll next(Block* out, const Pull& pull) override {
    while (!inner_.taken_up()) {
      if (const Poll poll = inner_.reopen(&slots_, pull.waker); poll != Poll::ready) return poll;
    }
    inner_.look_ahead(pull.waker);
    RunJoiner rows;
    ++pulls_;
    while (rows.rows() < pull.max_rows) {
      run_->check_cancelled();
      if (at_ == slots_.size()) {  // slots are made as the pointer comes to them first
        if (!inner_.exhausted()) {
          slots_.emplace_back();
        } else if (slots_.empty()) {
          break;
        } else {
          at_ = 0;
        }
      }
      Slot& slot = slots_[at_];
      Poll poll = Poll::ready;
      if (!slot.cursor && inner_.exhausted()) {  // never filled again
        slots_.erase(slots_.begin() + static_cast<std::ptrdiff_t>(at_));
        taken_ = 0;
        continue;
      }
      if (!slot.cursor) {
        poll = fill(&slot, pull.waker, &rows);
      } else if (slot.left() == 0) {
        poll = pull_inner(&slot, pull, rows.rows());
      }
      if (poll == Poll::pending) {
        if (rows.empty()) return poll;
        break;
      }
      if (slot.left() == 0) continue;
      const int64_t given = take_turn(&slot, &rows, pull.max_rows - rows.rows());
      if (how_.cycle_length == 1 && given >= kPassed)
        break;  // large pieces pass through without a copy
    }
    if (rows.empty()) return Poll::end;
    *out = rows.finish(identity().columns);
    if (identity().marks) mark(out);
    return Poll::ready;
  }

 private:
  static constexpr int64_t kPassed = 64;

  using Slot = InnerSlot;

  void mark(Block* out) {
    const int64_t head = inner_.used();
    int64_t oldest = head;
    const auto at = static_cast<int64_t>(at_);
    const bool dealt = !inner_.rests().empty();
    std::vector<int64_t> numbers{dealt ? ~at : at, taken_, inner_.exhausted() ? 1 : 0};
    if (dealt) numbers.push_back(std::ssize(slots_));
    std::vector<StreamPosition> positions(1);
    for (const Slot& slot : slots_) {
      numbers.push_back(slot.cursor ? head - slot.arrived : 0);
      if (!slot.cursor) continue;
      oldest = std::min(oldest, slot.arrived);
      positions.push_back(slot.position());
    }
    if (dealt) {
      InnerRests rests = inner_.rests();
      for (const Slot& slot : slots_)
        if (slot.rest) rests[slot.key] = slot.rest->behind(slot.next_row(), slot.position());
      put_rests(rests, &numbers, &positions);
    }
    positions[0] = inner_.trail().before(oldest);
    set_mark(out, numbers, positions);
    inner_.trail().forget(oldest);
  }

  void resume(const StageMark& from) {
    if (from.numbers().size() == kBlockFlatMapNumbers) return resume_block_flat_map(from);
    const bool dealt = from.number(0) < 0;
    at_ = static_cast<size_t>(dealt ? ~from.number(0) : from.number(0));
    taken_ = checked_count(from.number(1), from.stage());
    InnerRests rests;
    const std::span<const int64_t> ages =
        dealt ? ages_and_rests(from, &rests) : std::span<const int64_t>(from.numbers()).subspan(3);
    int64_t head = 0;
    for (const int64_t age : ages) head = std::max(head, checked_count(age, from.stage()));
    if (static_cast<int64_t>(ages.size()) > how_.cycle_length)
      damaged("more datasets than cycle_length");
    slots_.resize(ages.size());
    std::vector<InnerDatasets::Live> live;
    for (size_t i = 0; i < ages.size(); ++i) {
      if (ages[i] <= 0) continue;
      if (live.size() + 1 >= from.inputs().size()) damaged("a dataset's position is missing");
      slots_[i].arrived = head - ages[i];
      live.push_back({slots_[i].arrived, i, from.inputs()[live.size() + 1]});
    }
    if (at_ > slots_.size()) damaged("no slot " + std::to_string(at_));
    std::ranges::sort(live, {}, &InnerDatasets::Live::row);
    inner_.take_up(head, std::move(live), from.number(2) != 0, std::move(rests));
  }

  [[noreturn]] static void damaged(const std::string& what) {
    throw Error(Code::data_loss, "the checkpoint is damaged: " + what);
  }

  static std::span<const int64_t> ages_and_rests(const StageMark& from, InnerRests* rests) {
    const std::span<const int64_t> numbers = from.numbers();
    const std::span<const StreamPosition> positions = from.inputs();
    const auto slots = static_cast<size_t>(checked_count(from.number(3), from.stage()));
    if (slots > numbers.size() - 4) damaged("it has too few numbers");
    const std::span<const int64_t> ages = numbers.subspan(4, slots);
    const auto live = std::ranges::count_if(ages, [](int64_t age) { return age > 0; });
    if (std::ssize(positions) <= live) damaged("a dataset's position is missing");
    *rests =
        take_rests(numbers.subspan(4 + slots), positions.subspan(1 + static_cast<size_t>(live)));
    return ages;
  }

  void resume_block_flat_map(const StageMark& from) {
    const bool within = from.inputs().size() > 1;
    if (!within && from.number(0) == 0) return;
    slots_.resize(1);
    const StreamPosition at = within ? from.inputs()[1] : StreamPosition{nullptr, from.number(1)};
    inner_.take_up(1, {{0, 0, at}}, false, {});
  }

  void advance() {
    at_ = at_ + 1 == static_cast<size_t>(how_.cycle_length) ? 0 : at_ + 1;
    taken_ = 0;
  }

  // The slot's next rows; at its end the slot is empty and the pointer moves on.
  Poll pull_inner(Slot* slot, const Pull& pull, int64_t made) {
    inner_.work_ahead(slot);
    const int64_t want =
        how_.cycle_length == 1
            ? pull.max_rows - made
            : std::min(pull.max_rows, std::max<int64_t>(how_.block_length, kPassed));
    Block block;
    slot->before = slot->cursor->position();
    const Poll poll = slot->cursor->pull(&block, {want, pull.waker});
    if (poll == Poll::ready) {
      slot->hold(std::move(block));
    } else if (poll == Poll::end) {
      inner_.end(*slot);
      *slot = Slot();
      advance();
    }
    return poll;
  }

  // The next input's dataset goes into the slot. What fails is an error here.
  Poll fill(Slot* slot, Waker* waker, RunJoiner* rows) {
    InnerDatasets::Coming next;
    if (const Poll poll = inner_.take(&next, waker); poll != Poll::ready) return poll;
    *slot = std::move(next.slot);
    if (next.error) {
      rows->add(std::make_shared<const Block>(
                    error_block(std::move(next.error), identity().columns, next.origin)),
                0, 1);
    }
    inner_.look_ahead(waker);
    return Poll::ready;
  }

  // Up to what is left of the turn; errors count for nothing. The number of rows given.
  int64_t take_turn(Slot* slot, RunJoiner* rows, int64_t most) {
    if (slot->rest) {
      slot->drop(slot->rest->given_from(slot->next_row(), slot->left()));
      if (slot->left() == 0) return 0;
    }
    const Block& held = *slot->held;
    int64_t n = std::min(most, slot->left());
    if (slot->rest) n = slot->rest->left_from(slot->next_row(), n);
    if (how_.cycle_length > 1) {
      if (held.errors.empty()) {
        n = std::min(n, how_.block_length - taken_);
        taken_ += n;
      } else {
        const int64_t end = n;
        for (n = 0; n < end && taken_ < how_.block_length; ++n)
          taken_ += held.error_at(slot->row + n) ? 0 : 1;
      }
    }
    rows->add(slot->held, slot->row, n, slot->joined == pulls_);
    if (n > 0) slot->joined = pulls_;
    for (int64_t i = 0; noted_ && i < n; ++i)
      noted_->rows.push_back({slot->key, slot->next_row() + i});
    slot->drop(n);
    if (how_.cycle_length > 1 && taken_ >= how_.block_length) advance();
    return n;
  }

  const Interleaving how_;
  Run* const run_;
  OpenedRows* const noted_;
  InnerDatasets inner_;
  std::vector<Slot> slots_;
  size_t at_ = 0;
  int64_t pulls_ = 0;
  int64_t taken_ = 0;  // elements of this turn
};

}  // namespace

Spec inner_spec(const NodeDraft& draft) {
  const Spec& output = draft.node.function("f")->output;
  if (!output.is_leaf() || !is_dataset(output.leaf)) {
    NodeDraft::fail("f", "gives " + output.text() + ", expected a dataset");
  }
  return *output.leaf.element;
}

CursorPtr open_interleaving(const PlanPtr& node, const OpenContext& context,
                            const Interleaving& how) {
  return std::make_unique<InterleavingCursor>(node, context, how);
}

}  // namespace penstock
