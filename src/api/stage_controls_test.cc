// Limits that move while a run goes on.

#include "runtime/stage_controls.h"

#include <doctest/doctest.h>

#include <string>

#include "data/digest.h"
#include "datasets/datasets.h"
#include "plan/build.h"
#include "runtime/run.h"
#include "trace/trace.h"

namespace penstock {
namespace {

PlanPtr plan_of(const char* text) {
  return build_plan(std::make_shared<const Source>(Source{"test", text}), {}).plan;
}

RunOptions two_threads() {
  RunOptions options;
  options.threads = 2;
  options.block_rows = 8;
  return options;
}

// A pipeline with a stage `op` of which something moves.
class MovedRun {
 public:
  MovedRun(const char* text, const std::string& op)
      : iterator_(plan_of(text), two_threads(), std::make_shared<PipelineState>()),
        digest_(iterator_.run().plan()->spec) {
    for (const PlanNode* node : topological(*iterator_.run().plan())) {
      if (node->op->name == op) node_ = node;
    }
    REQUIRE(node_);
  }
  StageControls& controls() { return iterator_.run().stage(node_)->controls; }
  // Pulls up to `rows` rows.
  void pull(int64_t rows) {
    Block block;
    for (; rows > 0 && iterator_.next(&block, rows); rows -= block.rows) digest_.add(block);
  }
  std::string finish() {
    pull(INT64_MAX);
    return digest_.ordered().text();
  }
  StageTrace traced() const {
    for (const StageTrace& s : capture_trace(iterator_.run(), "").stages) {
      if (s.op == node_->op->name) return s;
    }
    return {};
  }

 private:
  BlockIterator iterator_;
  StreamDigest digest_;
  const PlanNode* node_ = nullptr;
};

std::string unmoved(const char* text, const std::string& op) { return MovedRun(text, op).finish(); }

TEST_CASE("stage controls: a value is started once, and set within its bounds") {
  LiveValue value;
  CHECK(value.get() == 0);
  value.set(3);  // no stage uses it yet
  CHECK(value.get() == 0);
  value.start(4, 8, true);
  value.start(5, 9, false);
  CHECK(value.get() == 4);
  CHECK(value.is_fixed());
  value.set(100);
  CHECK(value.get() == 8);
}

TEST_CASE("stage controls: a stage that ran in the consumer's thread goes to the pool and back") {
  register_datasets();
  const char* text = "range(4000) | map(x -> x * x + 1)";
  MovedRun run(text, "map");
  run.pull(100);
  CHECK(run.controls().calls.get() == 1);
  CHECK(run.controls().on_pool == 0);
  CHECK(run.traced().thread_group == 0);
  run.controls().calls.set(2);
  run.controls().hand_over = HandOver::pool;
  run.pull(1000);
  CHECK(run.controls().on_pool == 1);
  CHECK(run.traced().thread_group == 1);
  CHECK(run.traced().width == 2);
  run.controls().calls.set(1);
  run.controls().hand_over = HandOver::consumer;
  run.pull(1000);
  CHECK(run.controls().inlined);
  CHECK(run.traced().thread_group == 0);
  CHECK(run.finish() == unmoved(text, "map"));
}

TEST_CASE("stage controls: values outlive a stage that is opened again") {
  register_datasets();
  const char* text = "range(100) | map(x -> x + 1, num_parallel_calls=2) | repeat(30)";
  MovedRun run(text, "map");
  run.pull(50);
  CHECK(run.controls().calls.is_fixed());
  run.controls().calls.set(5);
  run.pull(1000);
  CHECK(run.controls().calls.get() == 5);
  CHECK(run.traced().limit == 5);
  CHECK(run.finish() == unmoved(text, "map"));
}

TEST_CASE("stage controls: the rows that a prefetch holds move, down to none") {
  register_datasets();
  MovedRun run("range(1000) | prefetch(16)", "prefetch");
  run.pull(10);
  CHECK(run.controls().rows_ahead.get() == 16);
  run.controls().rows_ahead.set(0);  // as without the prefetch
  run.pull(500);
  run.controls().rows_ahead.set(200);
  run.pull(100);
  CHECK(run.traced().rows_ahead == 200);
  CHECK(run.finish() == unmoved("range(1000)", "range"));
}

TEST_CASE("stage controls: an interleave works on as many datasets at once as it may") {
  register_datasets();
  const char* text = "range(40) | interleave(x -> range(x * 7) | map(y -> y + x), cycle_length=6, "
                     "block_length=3, num_parallel_calls=2)";
  MovedRun run(text, "interleave");
  run.pull(100);
  CHECK(run.controls().most_on_pool > 1);
  run.controls().calls.set(1);
  run.pull(500);
  run.controls().calls.set(6);
  CHECK(run.finish() == unmoved(text, "interleave"));
}

}  // namespace
}  // namespace penstock
