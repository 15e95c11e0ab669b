// An operator of a user's own is treated as the built-in one with the same facts; one that states
// no facts is treated conservatively.

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "api/operator_copies_test.h"
#include "datasets/datasets.h"
#include "datasets/resharding.h"
#include "optimizer/knobs.h"
#include "optimizer/optimize.h"
#include "optimizer/prepare.h"
#include "plan/build.h"
#include "plan/format.h"
#include "plan/noop.h"
#include "plan/unparse.h"
#include "runtime/chain.h"
#include "runtime/run.h"
#include "trace/trace.h"

namespace penstock {

void register_operator_copies() {
  static const bool once = [] {
    register_datasets();
    OperatorRegistry& registry = OperatorRegistry::instance();
    for (const std::string name :
         {"map", "filter", "take", "shuffle", "batch", "repeat", "cache", "prefetch"}) {
      const OperatorDef& original = *registry.find(name);
      OperatorDef copy = original;
      copy.name = "my_" + name;
      registry.add(std::move(copy));
      OperatorDef silent;
      silent.name = "silent_" + name;
      silent.params = original.params;
      silent.infer = original.infer;
      silent.function_input = original.function_input;
      silent.open = original.open;
      registry.add(std::move(silent));
    }
    return true;
  }();
  (void)once;
}

namespace {

PlanPtr plan_of(const std::string& text) {
  register_operator_copies();
  return build_plan(std::make_shared<const Source>(Source{"test", text}), {}).plan;
}

// `text` with OWN before the names of operators replaced.
std::string named(std::string text, const std::string& prefix) {
  for (size_t at = text.find("OWN_"); at != std::string::npos; at = text.find("OWN_"))
    text.replace(at, 4, prefix);
  return text;
}

// The plan after the rule, or after all of them, printed with built-in names.
std::string rewritten(const std::string& text, const std::string& prefix, const char* rule) {
  PrepareOptions options;
  options.only_rule = rule;
  options.automatic = false;
  std::string out =
      format_program(unparse(*prepare_plan(plan_of(named(text, prefix)), options, nullptr)));
  for (size_t at = out.find(prefix); !prefix.empty() && at != std::string::npos;
       at = out.find(prefix))
    out.erase(at, prefix.size());
  return out;
}

int64_t rows_of(const PlanPtr& plan, RunOptions options = {}) {
  BlockIterator iterator(plan, options, std::make_shared<PipelineState>());
  int64_t rows = 0;
  Block block;
  while (iterator.next(&block, 4096)) rows += block.rows;
  return rows;
}

}  // namespace

TEST_CASE("every operator says what it does to rows") {
  register_datasets();
  for (const char* name : {
#define OPERATOR(name) #name,
#include "datasets/operators.inc"
#undef OPERATOR
       }) {
    CAPTURE(name);
    const OperatorDef* op = OperatorRegistry::instance().find(name);
    REQUIRE(op);
    CHECK((op->source || op->sink) == (op->rows == Rows::unknown));
  }
}

TEST_CASE("dead components go through operators that hand elements on") {
  for (const std::string text :
       {"range(9) | map(x -> {a: x, b: x * 2}) | OWN_take(3) | map({a, **_} -> a)",
        "range(9) | map(x -> {a: x, b: x * 2}) | OWN_shuffle(3, seed=1) | OWN_repeat(2) | "
        "OWN_cache() | OWN_prefetch(1) | map({a, **_} -> a)",
        "range(9) | OWN_map(x -> {a: x, b: x * 2}) | OWN_filter({a, **_} -> a > 1) | OWN_take(3) | "
        "OWN_map({a, **_} -> a)"}) {
    CAPTURE(text);
    const std::string expected = rewritten(text, "", "dead_components");
    CHECK(expected.find("b:") == std::string::npos);
    CHECK(rewritten(text, "my_", "dead_components") == expected);
    CHECK(rewritten(text, "silent_", "dead_components").find("b:") != std::string::npos);
  }
}

TEST_CASE("operators that change nothing go") {
  const std::string text =
      "range(9) | OWN_take(-1) | OWN_repeat(1) | OWN_map(x -> x) | OWN_prefetch(0)";
  CHECK(rewritten(text, "my_", "noop_removal") == "range(9)\n");
  CHECK(rewritten(text, "silent_", "noop_removal") != "range(9)\n");
}

TEST_CASE("stages after shard can be dealt if they say how") {
  const std::string text =
      "range(99) | shard(2, 0) | OWN_map(x -> x) | OWN_filter(x -> x > 1) | OWN_shuffle(3, seed=1)"
      " | OWN_batch(2) | OWN_prefetch(1) | OWN_repeat(2)";
  CHECK(resharded_shard(*plan_of(named(text, "my_"))).is("shard"));
  for (const std::string name : {"take(-1)", "map(x -> x)", "filter(x -> x > 1)", "batch(2)",
                                 "shuffle(3, seed=1)", "repeat(1)", "prefetch(1)"}) {
    CAPTURE(name);
    CHECK_NOTHROW(resharded_shard(*plan_of("range(99) | shard(2, 0) | my_" + name)));
    CHECK_THROWS_AS(resharded_shard(*plan_of("range(99) | shard(2, 0) | silent_" + name)), Error);
  }
}

TEST_CASE("a trace holds the facts about operators") {
  register_operator_copies();
  const auto facts = [](const std::string& name) {
    StageTrace s;
    take_facts(*OperatorRegistry::instance().find(name), &s);
    return std::vector<bool>{s.stateless, s.keeps_rows, s.sink,       s.scales,
                             s.repeats,   s.caches,     s.reads_ahead};
  };
  for (const std::string name :
       {"map", "filter", "take", "shuffle", "batch", "repeat", "cache", "prefetch"}) {
    CAPTURE(name);
    CHECK(facts("my_" + name) == facts(name));
    CHECK(facts("silent_" + name) == std::vector<bool>(7, false));
  }
  CHECK(facts("batch")[3]);
  CHECK_FALSE(facts("take")[3]);
  CHECK_FALSE(facts("repeat")[3]);
  const PlanPtr plan =
      plan_of("range(9) | my_cache() | my_repeat(2) | my_take(12) | my_prefetch(1)");
  BlockIterator iterator(plan, {}, std::make_shared<PipelineState>());
  Block block;
  while (iterator.next(&block, 4096)) {
  }
  const std::vector<StageTrace> stages = capture_trace(iterator.run(), "").stages;
  REQUIRE(stages.size() == 5);
  CHECK(stages[0].reads_ahead);
  CHECK_FALSE(stages[1].scales);
  CHECK(stages[2].repeats);
  CHECK(stages[3].caches);
}

TEST_CASE("knobs and passes go by facts") {
  const PlanPtr plan = plan_of("range(9) | my_map(x -> x + 1) | my_repeat(3) | my_prefetch(2)");
  CHECK(passes_over(*plan, plan->inputs[0]->inputs[0].get()) == 3);
  CHECK(strip_knobs(plan) == plan->inputs[0]);
  const PlanPtr silent = plan_of("range(9) | silent_repeat(3) | silent_prefetch(2)");
  CHECK(passes_over(*silent, silent->inputs[0]->inputs[0].get()) == 1);
  CHECK_FALSE(strip_knobs(silent)->op->reads_ahead);
}

TEST_CASE("chains take stages by their role") {
  for (const std::string prefix : {"", "my_", "silent_"}) {
    CAPTURE(prefix);
    const PlanPtr plan = plan_of(named(
        "range(100) | OWN_map(x -> x * 3, num_parallel_calls=2) | OWN_filter(x -> x % 2 == 0)",
        prefix));
    CHECK(goes_along(*plan) == (prefix != "silent_"));
    RunOptions options;
    options.threads = 2;
    CHECK(rows_of(prefix == "silent_" ? plan->inputs[0] : plan, options) ==
          (prefix == "silent_" ? 100 : 50));
  }
}

TEST_CASE("errors name the record if rows stand for records") {
  const std::string path =
      (std::filesystem::temp_directory_path() / "penstock_operator_facts_test.txt").string();
  std::ofstream(path) << "1\nx\n";
  const auto message = [&](const std::string& stage) {
    const PlanPtr plan =
        plan_of("text_line(\"" + path + "\") | " + stage + " | map(s -> to_number(s))");
    BlockIterator iterator(plan, {}, std::make_shared<PipelineState>());
    Block block;
    while (iterator.next(&block, 4096)) {
      if (!block.errors.empty()) return block.errors[0].error->message();
    }
    return std::string("no error");
  };
  CHECK(message("take(5)").find(path) != std::string::npos);
  CHECK(message("my_take(5)") == message("take(5)"));
  for (const std::string stage : {"silent_take(5)", "my_batch(1)"}) {
    CAPTURE(stage);
    CHECK(message(stage).find("to_number") != std::string::npos);
    CHECK(message(stage).find(path) == std::string::npos);
  }
  std::filesystem::remove(path);
}

}  // namespace penstock
