// A run that is cancelled ends; it does not give its end as errors of rows.

#include <doctest/doctest.h>

#include <functional>
#include <string>

#include "datasets/datasets.h"
#include "optimizer/prepare.h"
#include "penstock/extend.h"
#include "plan/build.h"
#include "runtime/run.h"

namespace penstock {
namespace {

std::function<void()> cancel_the_run;

// test_cancel_at(x, row=7) gives x, and cancels the run where x is 7.
void register_cancelling_op() {
  static const bool once = [] {
    OpDefinition op;
    op.name = "test_cancel_at";
    op.inputs = {"x"};
    op.parameters = {{"row", Parameter::Kind::integer, std::nullopt}};
    op.infer = [](std::span<const ArrayType> in, const Arguments&) {
      return std::vector<ArrayType>{in[0]};
    };
    op.row = [](std::span<const Array> in, const Arguments& arguments) {
      if (in[0].value<int64_t>() == arguments.integer("row")) cancel_the_run();
      return std::vector<Array>{in[0]};
    };
    op.effect = Effect::stateful;
    register_op(op);
    return true;
  }();
  (void)once;
}

void check_cancelled_run(const std::string& text, HandOver hand_over) {
  CAPTURE(text);
  const BuiltPlan built = build_plan(std::make_shared<const Source>(Source{"test", text}), {});
  RunOptions options;
  options.threads = 2;
  options.memory_bytes = 256 << 20;
  BlockIterator iterator(built.plan, options, std::make_shared<PipelineState>());
  cancel_the_run = [&iterator] { iterator.cancel(); };
  int64_t errors = 0;
  try {
    for (Block block; iterator.next(&block, 16);) {
      errors += static_cast<int64_t>(block.errors.size());
      // After its start: a stage that has gone to the pool comes back from there.
      for (const PlanNode* node : topological(*built.plan))
        iterator.run().stage(node)->controls.hand_over = hand_over;
    }
    FAIL("not cancelled");
  } catch (const Error& e) {
    CHECK(e.code() == Code::cancelled);
  }
  CHECK(errors == 0);
  CHECK(iterator.run().ignored().empty());
}

TEST_CASE("a cancelled run has no errors of its own end") {
  register_datasets();
  register_cancelling_op();
  for (const HandOver hand_over : {HandOver::consumer, HandOver::automatic, HandOver::pool}) {
    for (const char* calls : {"", ", num_parallel_calls=2"}) {
      for (const int row : {0, 900, 99000}) {
        const std::string map =
            "range(100000) | map(x -> map_fn([x, x], y -> test_cancel_at(y, row=" +
            std::to_string(row) + "))" + calls + ")";
        for (const char* rest : {"", " | batch(4)", " | ignore_errors()"})
          check_cancelled_run(map + rest, hand_over);
      }
    }
  }
}

}  // namespace
}  // namespace penstock
