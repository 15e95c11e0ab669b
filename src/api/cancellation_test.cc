// A run that is cancelled ends; it does not give its end as errors of rows.

#include <doctest/doctest.h>

#include <functional>
#include <string>
#include <thread>

#include "datasets/datasets.h"
#include "optimizer/prepare.h"
#include "penstock/extend.h"
#include "penstock/penstock.h"
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

TEST_CASE("a thread that computes inside next asks whether it is interrupted") {
  for (const char* text :
       {"range(1099511627776) | filter(x -> x < 0)",
        "range(3) | flat_map(n -> range(1099511627776) | filter(x -> x < n))",
        "range(1) | map(x -> while_loop(x, i -> i >= 0, i -> i + 1, 1099511627776))"}) {
    CAPTURE(text);
    Iterator it = Dataset::parse(text).with_options({.threads = 1}).iterate();
    int asks = 0;
    const std::thread::id self = std::this_thread::get_id();
    it.interrupt_if([&] {
      CHECK(std::this_thread::get_id() == self);
      return ++asks == 2;
    });
    Element e;
    try {
      while (it.next(&e)) {
      }
      FAIL("not interrupted");
    } catch (const Error& error) {
      CHECK(error.code() == Code::cancelled);
    }
    CHECK(asks == 2);
    CHECK_THROWS(it.next(&e));
  }
}

TEST_CASE("an interrupt leaves the position where it was") {
  Iterator it = Dataset::parse("range(1099511627776) | filter(x -> x < 5000)").iterate();
  std::string saved;
  it.interrupt_if([&] { return !saved.empty(); });
  Element e;
  for (int64_t i = 0; i < 5000; ++i) {
    REQUIRE(it.next(&e));
    CHECK(e.value<int64_t>() == i);
  }
  saved = it.save();
  CHECK_THROWS(it.next(&e));
  CHECK(it.save() == saved);
}

}  // namespace
}  // namespace penstock
