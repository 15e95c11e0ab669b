#include "runtime/cursor.h"

#include <algorithm>

#include "base/cancellation.h"
#include "runtime/run.h"
#include "runtime/stack.h"

namespace penstock {
namespace {

// With marks and blocks of one row every stage gives its rows one by one, so that each has a mark.
int64_t most_rows(const Cursor::Identity& cursor, int64_t asked) {
  if (!cursor.marks || asked == 1) return asked;
  const Run* run = Run::current();
  return run && run->options().block_rows == 1 ? 1 : asked;
}

}  // namespace

void Cursor::resume_at(const StreamPosition& at) {
  position_ = at;
  to_drop_ += at.rows;
}

Poll Cursor::pull(Block* out, const Pull& pull) {
  while (to_drop_ > 0) {
    Block dropped;
    const int64_t most = most_rows(identity_, std::min(pull.max_rows, to_drop_));
    const Poll poll = pull_once(&dropped, {most, pull.waker});
    if (poll != Poll::ready) return poll;
    to_drop_ -= dropped.rows;
    if (dropped.mark) position_ = {dropped.mark, to_drop_};
  }
  const Poll poll = pull_once(out, {most_rows(identity_, pull.max_rows), pull.waker});
  if (poll != Poll::ready) return poll;
  if (out->mark) {
    position_ = {out->mark, 0};
  } else {
    position_.rows += out->rows;
  }
  return poll;
}

Poll Cursor::pull_once(Block* out, const Pull& pull) {
  check_cancelled();  // here once for all operators that go on pulling
  StageClock clock(identity_.counters);
  Poll result;
  try {
    if (stack_is_short())
      throw Error(Code::resource_exhausted, "too many stages stand on each other for the stack");
    result = next(out, pull);
  } catch (const Error& e) {
    if (e.code() == Code::cancelled) throw;
    *out = error_block(std::make_shared<const Error>(e.at(identity_.name)), identity_.columns,
                       Origin());
    result = Poll::ready;
  } catch (...) {
    *out = error_block(current_error(), identity_.columns, Origin());
    result = Poll::ready;
  }
  if (result != Poll::ready) {
    out->clear();  // an operator may have filled and dropped rows before its input had no more
    return result;
  }
  PENSTOCK_DCHECK(out->rows >= 1 && out->rows <= pull.max_rows);
  PENSTOCK_DCHECK(out->columns.size() == identity_.columns);
  if (!out->errors.empty()) {
    check_cancelled();  // a stage that was ended at its work may give that as its rows' error
    for (RowError& e : out->errors) {
      if (e.error->node().empty())
        e.error = std::make_shared<const Error>(e.error->at(identity_.name));
    }
  }
  if (NodeCounters* c = identity_.counters) {
    c->add(&StageCounts::elements, out->rows);
    c->add(&StageCounts::blocks, 1);
    if (!out->errors.empty())
      c->add(&StageCounts::errors, static_cast<int64_t>(out->errors.size()));
    c->add(&StageCounts::bytes, out->payload_bytes());
  }
  if (out->mark && !identity_.passes_marks && out->mark->owner() != identity_.node)
    out->mark.reset();  // an input's, that came with its block
  return result;
}

}  // namespace penstock
