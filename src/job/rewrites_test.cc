// The rules by their own examples: they apply where they say, stop where they say, and change no
// element.

#include "job/rewrites.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "data/digest.h"
#include "datasets/datasets.h"

namespace penstock {
namespace {

LoadedPipeline loaded(std::string_view text, std::string_view only_rule = {}) {
  PipelineChoices choices;
  choices.only_rule = std::string(only_rule);
  choices.rewrite = !only_rule.empty();
  choices.automatic = false;
  return load_pipeline(std::make_shared<const Source>(Source{"test", std::string(text)}), choices);
}

std::string digest_of(const PlanPtr& plan, int64_t block_rows) {
  RunOptions options;
  options.threads = 2;
  options.block_rows = block_rows;
  options.memory_bytes = 256 << 20;
  BlockIterator iterator(plan, options, std::make_shared<PipelineState>());
  StreamDigest digest(plan->spec);
  for (Block block; iterator.next(&block, 4096);) digest.add(block);
  return digest.ordered().text() + " " + std::to_string(digest.elements());
}

void check_same_elements(const LoadedPipeline& rewritten, std::string_view text) {
  const std::string written = digest_of(loaded(text).plan, 4096);
  CHECK(!written.ends_with(" 0"));
  for (const int64_t rows : {1, 2, 4096}) CHECK(digest_of(rewritten.plan, rows) == written);
}

bool has(const std::vector<Rewrite>& list, std::string_view rule, std::string_view condition = {}) {
  return std::ranges::any_of(list, [&](const Rewrite& r) {
    return r.rule == rule && r.condition == condition && r.place.starts_with("test:1:");
  });
}

TEST_CASE("a rule applies in its example, and the elements stay") {
  for (const Rule& rule : rules()) {
    CAPTURE(rule.name);
    const LoadedPipeline p = loaded(rule.example, rule.name);
    CHECK(has(rewrites_of(p).applied, rule.name));
    check_same_elements(p, rule.example);
  }
}

TEST_CASE("each condition stops its rule in its example") {
  for (const Rule& rule : rules()) {
    std::set<std::string_view> names;
    for (const RuleCondition& condition : rule.conditions) {
      CAPTURE(rule.name);
      CAPTURE(condition.name);
      CHECK(names.insert(condition.name).second);
      const LoadedPipeline p = loaded(condition.example, rule.name);
      const Rewrites rewrites = rewrites_of(p);
      CHECK(has(rewrites.stopped, rule.name, condition.name));
      CHECK(!has(rewrites.applied, rule.name));
      check_same_elements(p, condition.example);
    }
  }
}

TEST_CASE("a result with other elements is not used") {
  const Rule wrong[] = {{"wrong",
                         "gives more elements",
                         "",
                         [](const PlanPtr& node, RuleSite&) {
                           return node->op->source ? PlanPtr() : node->inputs[0];
                         },
                         {}}};
  const LoadedPipeline p = loaded("range(9) | take(3)");
  PrepareOptions options;
  options.says_why = true;
  std::vector<RuleLog> log;
  CHECK(apply_rules(p.built.plan, wrong, options, &log) == p.built.plan);
  REQUIRE(log.size() == 1);
  CHECK(log[0].stopped_by == &kKeepsElements);
}

// The elements of a plan as a digest without its errors, and the number of these.
std::pair<std::string, int64_t> elements_and_errors(const LoadedPipeline& p) {
  RunOptions options;
  options.threads = 1;
  BlockIterator iterator(p.plan, options, std::make_shared<PipelineState>());
  StreamDigest digest(p.plan->spec);
  int64_t errors = 0;
  for (Block block; iterator.next(&block, 1);) {
    errors += static_cast<int64_t>(block.errors.size());
    if (block.errors.empty()) digest.add(block);
  }
  return {digest.ordered().text(), errors};
}

TEST_CASE("filter_first: the error of an element that is dropped goes, all else stays") {
  const std::string text =
      "range(9) | map(x -> {a: x, b: sum(exp(fill([9], float32(60 // ((x - 2) * (x - 7))))))}) "
      "| filter({a, **_} -> a > 3)";
  for (const char* above : {"", " | batch(2)", " | map(x -> x.b) | prefetch(2)"}) {
    const auto plain = elements_and_errors(loaded(text + above));
    const auto rewritten = elements_and_errors(loaded(text + above, "filter_first"));
    CHECK(plain.first == rewritten.first);
    CHECK(plain.second == 2);
    CHECK(rewritten.second == 1);
  }
  for (const char* above : {" | shuffle(3, seed=1)", " | skip(1)", " | enumerate()", " | cache()"})
    check_same_elements(loaded(text + above, "filter_first"), text + above);
}

}  // namespace
}  // namespace penstock
