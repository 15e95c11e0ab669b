// The running state of an operator: blocks are pulled from it.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>

#include "data/block.h"
#include "runtime/checkpoint.h"
#include "runtime/counters.h"

namespace penstock {

enum class Poll : uint8_t {
  ready,    // a block of at least one row
  pending,  // nothing yet: the waker given will be woken
  end,      // no more, now and ever
};

// Told when something that was pending may have become ready. wake may be called from any thread,
// also when there is nothing to do.
class Waker {
 public:
  virtual ~Waker() = default;
  virtual void wake() = 0;
};

struct Pull {
  int64_t max_rows;  // at least 1; no block given is larger
  Waker* waker;      // outlives the cursor
};

// One consumer at a time. Errors are rows. What next throws becomes an error row of its own, so an
// operator must be ready to go on after it throws; CANCELLED passes through.
class Cursor {
 public:
  virtual ~Cursor() = default;
  // Counts, times, adds the stage to errors.
  Poll pull(Block* out, const Pull& pull);

  struct Identity {
    NodeCounters* counters = nullptr;
    std::string name;            // for error messages
    size_t columns = 0;          // leaves of its element spec
    const void* node = nullptr;  // its plan node
    bool marks = false;          // the run wants marks on blocks
    bool passes_marks = false;   // stateless: its input's marks are its own
  };
  void set_identity(Identity identity) { identity_ = std::move(identity); }
  const Identity& identity() const { return identity_; }

  // Where the stream stands behind what pull has given. Opening the same plan there goes on with
  // the same rows. Without marks: so many rows from the beginning.
  const StreamPosition& position() const { return position_; }
  // Before the first pull: the cursor was opened behind at.mark, and at.rows rows that it gives
  // are to be dropped.
  void resume_at(const StreamPosition& at);
  // The same without dropping: what it pulls from has done that.
  void stand_at(const StreamPosition& at) { position_ = at; }
  // Drops rows that the mark itself leaves to be dropped.
  void drop_rows(int64_t rows) { to_drop_ += rows; }

 protected:
  virtual Poll next(Block* out, const Pull& pull) = 0;
  // If the run wants marks, marks the block with the cursor's state and the positions of its inputs
  // after the block's last row. A block may go without; the next mark will do.
  template <typename M>
  void set_mark(Block* out, const M& fields,
                std::initializer_list<StreamPosition> inputs = {}) const {
    set_mark(out, fields, std::span(inputs.begin(), inputs.size()));
  }
  template <typename M>
  void set_mark(Block* out, const M& fields, std::span<const StreamPosition> inputs,
                std::vector<Tensor> state = {}) const {
    if (!identity_.marks || identity_.passes_marks) return;
    out->mark = make_mark(identity_.node, identity_.name, fields, inputs, std::move(state));
  }

 private:
  Poll pull_once(Block* out, const Pull& pull);

  Identity identity_;
  StreamPosition position_;
  int64_t to_drop_ = 0;
};
using CursorPtr = std::unique_ptr<Cursor>;

}  // namespace penstock
