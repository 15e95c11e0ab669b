// The running state of an operator: blocks are pulled from it.
#pragma once

#include <cstdint>
#include <memory>

#include "data/block.h"
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
    std::string name;    // for error messages
    size_t columns = 0;  // leaves of its element spec
  };
  void set_identity(Identity identity) { identity_ = std::move(identity); }
  const Identity& identity() const { return identity_; }

 protected:
  virtual Poll next(Block* out, const Pull& pull) = 0;

 private:
  Identity identity_;
};
using CursorPtr = std::unique_ptr<Cursor>;

}  // namespace penstock
