#include "runtime/cursor.h"

#include "base/cancellation.h"

namespace penstock {

Poll Cursor::pull(Block* out, const Pull& pull) {
  check_cancelled();  // here once for all operators that go on pulling
  StageClock clock(identity_.counters);
  Poll result;
  try {
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
  if (result != Poll::ready) return result;
  PENSTOCK_DCHECK(out->rows >= 1 && out->rows <= pull.max_rows);
  PENSTOCK_DCHECK(out->columns.size() == identity_.columns);
  if (!out->errors.empty()) {
    for (RowError& e : out->errors) {
      if (e.error->node().empty())
        e.error = std::make_shared<const Error>(e.error->at(identity_.name));
    }
  }
  if (NodeCounters* c = identity_.counters) {
    add(c->elements, out->rows);
    add(c->blocks, 1);
    add(c->errors, static_cast<int64_t>(out->errors.size()));
    add(c->bytes, out->payload_bytes());
  }
  return result;
}

}  // namespace penstock
