// The order is the peer's: a pointer visits the slots in turn and takes up to block_length elements
// from each; a slot whose dataset has ended is filled with the next input only when the pointer
// comes back to it. An error takes no element of a turn and leaves the pointer where it is, so the
// order does not depend on how many threads work ahead.

#include "datasets/interleaving.h"

#include <algorithm>

#include "base/random.h"
#include "runtime/async_stage.h"

namespace penstock {
namespace {

class InterleavingCursor final : public Cursor {
 public:
  InterleavingCursor(PlanPtr node, const OpenContext& context, const Interleaving& how)
      : node_(std::move(node)),
        context_(context),
        environment_(context.environment.begin(), context.environment.end()),
        how_(how) {
    context_.environment = environment_;
    function_ = context_.program(*node_, "f");
    input_ = context_.open_input(*node_);
    slots_.resize(static_cast<size_t>(std::min<int64_t>(how.cycle_length, 4096)));
    context_.batch_rows = 0;
  }

 protected:
  Poll next(Block* out, const Pull& pull) override {
    BlockBuilder rows(identity().columns);
    while (rows.rows() < pull.max_rows) {
      run_->check_cancelled();
      Slot& slot = slots_[at_];
      if (!slot.cursor) {
        if (input_ended_) {
          if (open_ == 0) break;
          advance();
          continue;
        }
        const Poll poll = fill(&slot, pull.waker, &rows);
        if (poll == Poll::pending) {
          if (rows.empty()) return poll;
          break;
        }
        continue;
      }
      if (slot.held.rows == 0) {
        const int64_t want = how_.cycle_length == 1 ? pull.max_rows - rows.rows()
                                                    : std::max<int64_t>(how_.block_length, 64);
        const Poll poll =
            slot.cursor->pull(&slot.held, {std::min(want, pull.max_rows), pull.waker});
        if (poll == Poll::pending) {
          if (rows.empty()) return poll;
          break;
        }
        if (poll == Poll::end) {
          slot = Slot();
          --open_;
          advance();
          continue;
        }
      }
      take_turn(&slot, &rows, pull.max_rows - rows.rows());
      if (how_.cycle_length == 1) break;  // whole blocks pass through
    }
    if (rows.empty()) return Poll::end;
    *out = rows.finish();
    return Poll::ready;
  }

 private:
  struct Slot {
    CursorPtr cursor;
    ObjectPtr value;  // keeps the environment of the cursor alive
    Block held;
  };

  void advance() {
    at_ = (at_ + 1) % slots_.size();
    taken_ = 0;
  }

  // The next input's dataset goes into the slot. What fails is an error here, and the input is used
  // up.
  Poll fill(Slot* slot, Waker* waker, BlockBuilder* rows) {
    if (datasets_.rows == used_) {
      Block in;
      const Poll poll = input_->pull(&in, {std::min<int64_t>(16, how_.cycle_length), waker});
      if (poll == Poll::end) input_ended_ = true;
      if (poll != Poll::ready) return poll;
      function_->run(in, &datasets_);
      used_ = 0;
    }
    const int64_t row = used_++;
    try {
      if (const ErrorPtr* e = datasets_.error_at(row)) throw Error(**e);
      slot->value = datasets_.columns[0].row(row).object();
      const auto* dataset = dynamic_cast<const DatasetValue*>(slot->value.get());
      PENSTOCK_CHECK(dataset != nullptr);
      slot->cursor = open_dataset(context_, *dataset, mix(datasets_.origin.lineage(row), 1),
                                  datasets_.origin.epoch(row));
      if (how_.rows_ahead > 0) {
        const Identity id = slot->cursor->identity();
        AsyncOptions options;
        options.buffer_rows = how_.rows_ahead;
        options.depth = context_.depth;
        options.counters = id.counters;
        slot->cursor = open_async_stage(std::move(slot->cursor), run_, options);
        slot->cursor->set_identity({nullptr, id.name, id.columns});
      }
      ++open_;
    } catch (const Error& e) {
      if (e.code() == Code::cancelled) throw;
      slot->cursor.reset();
      rows->append(error_block(std::make_shared<const Error>(e), identity().columns,
                               datasets_.origin.slice(row)));
    }
    return Poll::ready;
  }

  // Up to what is left of the turn; errors count for nothing.
  void take_turn(Slot* slot, BlockBuilder* rows, int64_t most) {
    int64_t n = 0;
    if (how_.cycle_length == 1) {
      n = std::min(most, slot->held.rows);
    } else {
      while (n < most && n < slot->held.rows && taken_ < how_.block_length) {
        if (!slot->held.error_at(n)) ++taken_;
        ++n;
      }
    }
    if (n == slot->held.rows) {
      rows->append(slot->held);
      slot->held = Block();
    } else {
      rows->append(slot->held.slice(0, n));
      slot->held.drop_front(n);
    }
    if (taken_ >= how_.block_length && how_.cycle_length > 1) advance();
  }

  PlanPtr node_;
  OpenContext context_;
  std::vector<Tensor> environment_;
  const Interleaving how_;
  std::shared_ptr<const CompiledFunction> function_;
  CursorPtr input_;
  Run* const run_ = context_.run;
  std::vector<Slot> slots_;
  size_t at_ = 0;
  int64_t taken_ = 0;  // elements of this turn
  int64_t open_ = 0;
  bool input_ended_ = false;
  Block datasets_;  // made, not yet in a slot
  int64_t used_ = 0;
};

}  // namespace

Spec inner_spec(const NodeDraft& draft) {
  const Spec& output = draft.node.function("f")->output;
  if (!output.is_leaf() || output.leaf.kind != LeafSpec::Kind::dataset) {
    NodeDraft::fail("f", "gives " + output.text() + ", expected a dataset");
  }
  return *output.leaf.element;
}

CursorPtr open_interleaving(const PlanPtr& node, const OpenContext& context,
                            const Interleaving& how) {
  return std::make_unique<InterleavingCursor>(node, context, how);
}

}  // namespace penstock
