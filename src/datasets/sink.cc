#include "datasets/sink.h"

namespace penstock {
namespace {

void drain(Cursor& input, Run& run, const std::function<bool(const Block&)>& f) {
  ConsumerWaker waker(&run.gate(), run.schedule());
  Block block;
  for (;;) {
    run.check_cancelled();
    const Poll poll = input.pull(&block, {run.options().block_rows, &waker});
    if (poll == Poll::end) return;
    if (poll == Poll::pending) {
      waker.wait_until(INT64_MAX);
    } else if (!f(block)) {
      return;
    }
  }
}

}  // namespace

void for_each_block(const PlanPtr& node, const OpenContext& context,
                    const std::function<bool(const Block&)>& f) {
  drain(*context.open_input(*node), *context.run, f);
}

void for_each_row_block(Cursor& rows, Run& run, const std::function<void(const Block&)>& f) {
  drain(rows, run, [&](const Block& block) {
    if (!block.errors.empty()) throw Error(*block.errors[0].error);
    f(block);
    return true;
  });
}

void for_each_row(const PlanPtr& node, const OpenContext& context,
                  const std::function<bool(const Block&, int64_t row)>& f) {
  for_each_block(node, context, [&](const Block& block) {
    for (int64_t i = 0; i < block.rows; ++i) {
      if (const ErrorPtr* e = block.error_at(i)) throw Error(**e);
      if (!f(block, i)) return false;
    }
    return true;
  });
}

}  // namespace penstock
