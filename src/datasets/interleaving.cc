// The order is the peer's: a pointer visits the slots in turn and takes up to block_length elements
// from each; a slot whose dataset has ended is filled with the next input only when the pointer
// comes back to it. An error takes no element of a turn and leaves the pointer where it is, so the
// order does not depend on how many threads work ahead.
//
// Datasets that read files are opened before their turn, so that their reading begins: as many as
// files_ahead says, while half of the memory budget is free.
//
// A mark holds for each slot how many inputs ago its dataset was made, and the dataset's position.
// On resume the inputs are read again from the oldest.

#include "datasets/interleaving.h"

#include <algorithm>

#include "data/object_list.h"
#include "datasets/block_flat_map.h"
#include "datasets/inner_datasets.h"
#include "datasets/opened_mark.h"
#include "datasets/runs.h"

namespace penstock {
namespace {

class InterleavingCursor final : public Cursor {
 public:
  InterleavingCursor(const PlanPtr& node, const OpenContext& context, const Interleaving& how)
      : how_(how),
        run_(context.run),
        noted_(ScopedOpenedRows::of(node.get())),
        inner_(node, context, how) {
    if (auto from = resumed_opened(context, *node))
      resume(std::move(*from), *context.resume(*node));
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
    OpenedMark fields;
    fields.slot = static_cast<int64_t>(at_);
    fields.taken = taken_;
    fields.input_ended = inner_.exhausted();
    std::vector<StreamPosition> positions(1);
    for (const Slot& slot : slots_) {
      fields.ages.push_back(slot.cursor ? head - slot.arrived : 0);
      if (!slot.cursor) continue;
      oldest = std::min(oldest, slot.arrived);
      positions.push_back(slot.position());
    }
    if (!inner_.rests().empty()) add_rests(&fields, &positions);
    positions[0] = inner_.trail().before(oldest);
    set_mark(out, fields, positions);
    inner_.trail().forget(oldest);
  }

  void add_rests(OpenedMark* fields, std::vector<StreamPosition>* positions) const {
    fields->rests = inner_.rests();
    for (const Slot& slot : slots_)
      if (slot.rest) fields->rests[slot.key] = slot.rest->behind(slot.next_row(), slot.position());
    for (const auto& [key, rest] : fields->rests) positions->push_back(rest.start);
  }

  void resume(OpenedMark from, const StageMark& mark) {
    if (from.by_rows) return resume_by_rows(from, mark);
    if (std::ssize(from.ages) > how_.cycle_length) damaged("more datasets than cycle_length");
    if (from.slot > std::ssize(from.ages)) damaged("no slot " + std::to_string(from.slot));
    if (from.taken >= how_.block_length) damaged("a turn is longer than block_length");
    at_ = static_cast<size_t>(from.slot);
    taken_ = from.taken;
    const int64_t head = from.ages.empty() ? 0 : std::ranges::max(from.ages);
    slots_.resize(from.ages.size());
    std::vector<InnerDatasets::Live> live;
    for (size_t i = 0; i < from.ages.size(); ++i) {
      if (from.ages[i] == 0) continue;
      slots_[i].arrived = head - from.ages[i];
      live.push_back({slots_[i].arrived, i, mark.input(live.size() + 1)});
    }
    std::ranges::sort(live, {}, &InnerDatasets::Live::row);
    inner_.take_up(head, std::move(live), from.input_ended, std::move(from.rests));
  }

  // The mark of BlockFlatMapCursor.
  void resume_by_rows(const OpenedMark& from, const StageMark& mark) {
    if (!from.inside && from.source_rows == 0) return;
    slots_.resize(1);
    const StreamPosition at = from.inside ? mark.input(1) : StreamPosition{nullptr, from.emitted};
    inner_.take_up(1, {{0, 0, at}}, false, {});
  }

  [[noreturn]] static void damaged(const std::string& what) {
    throw Error(Code::data_loss, "the checkpoint is damaged: " + what);
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
