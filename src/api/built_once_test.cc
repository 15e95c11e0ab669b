// What an op needs (a pattern, a table, a model) is built once for a pipeline, not for its rows,
// blocks or threads. `prepare` builds all of these; here one counts its calls.

#include <atomic>

#include <doctest/doctest.h>

#include "datasets/datasets.h"
#include "functions/op.h"
#include "optimizer/prepare.h"
#include "plan/build.h"
#include "runtime/run.h"

namespace penstock {
namespace {

std::atomic<int> built{0};

// x as it is.
void add_counting_op() {
  if (OpRegistry::instance().find("counts_builds")) return;
  OpDef op;
  op.name = "counts_builds";
  op.params = {required("x", Param::Kind::tensor)};
  op.doc = "x";
  op.infer = [](const InferContext& context) { return Spec::of(context.tensor(0)); };
  op.row = [](const RowCall& call) { call.outputs[0].set(call.inputs[0]); };
  op.prepare = [](const Attrs&) -> std::shared_ptr<const void> {
    ++built;
    return std::make_shared<int>(0);
  };
  op.group = "test";
  OpRegistry::instance().add(std::move(op));
}

// How often the op was built while all rows of the pipeline came, in blocks of 16.
int builds(const std::string& pipeline, int threads) {
  register_datasets();
  add_counting_op();
  const BuiltPlan plan = build_plan(std::make_shared<const Source>(Source{"test", pipeline}));
  RunOptions options;
  options.threads = threads;
  PrepareOptions prepare;
  prepare.threads = threads;
  const PlanPtr prepared = prepare_plan(plan.plan, prepare, nullptr);
  built = 0;
  BlockIterator rows(prepared, options, std::make_shared<PipelineState>());
  Block block;
  int64_t count = 0;
  while (rows.next(&block, 16)) {
    CHECK(block.errors.empty());
    count += block.rows;
  }
  CHECK(count > 0);
  return built;
}

TEST_CASE("once for a stage, whatever its blocks and threads") {
  CHECK(builds("range(1000) | map(x -> counts_builds(x))", 1) == 1);
  CHECK(builds("range(1000) | map(x -> counts_builds(x), num_parallel_calls=4)", 4) == 1);
  CHECK(builds("range(1000) | filter(x -> counts_builds(x) >= 0)", 1) == 1);
  CHECK(builds("range(1000) | repeat(3) | map(x -> counts_builds(x)) | batch(10)", 1) == 1);
}

TEST_CASE("once for a loop, whatever its rounds") {
  CHECK(builds("range(100) | map(x -> map_fn(arange(10) + x, y -> counts_builds(y)))", 1) == 1);
  CHECK(builds("range(100) | map(x -> while_loop(x, y -> y < 100, y -> counts_builds(y) + 1, 100))",
               1) == 1);
}

TEST_CASE("once for a side of a condition") {
  CHECK(builds("range(100) | map(x -> if x % 2 == 0 then counts_builds(x) else x)", 1) == 1);
}

TEST_CASE("once for a pipeline inside a stage") {
  CHECK(builds("range(50) | flat_map(x -> range(x + 1) | map(y -> counts_builds(y)))", 1) == 1);
  CHECK(
      builds(
          "range(50) | interleave(x -> range(x + 1) | map(y -> counts_builds(y)), cycle_length=4)",
          2) == 1);
}

}  // namespace
}  // namespace penstock
