#include "job/text_edits.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "job/traced_run.h"
#include "optimizer/optimize.h"

namespace penstock {
namespace {

constexpr int kThreads = 3;

LoadedPipeline with_param(std::string_view text, const std::string& name = "test") {
  PipelineChoices choices;
  choices.run.threads = kThreads;
  if (text.find("param n") != std::string_view::npos) choices.settings["n"] = "7";
  return load_pipeline(std::make_shared<const Source>(Source{name, std::string(text)}), choices);
}

// A plan as the search makes them: knobs anew and, if `cached` is set, a cache after the first
// stage of that name.
PlanPtr searched(const LoadedPipeline& p, std::string_view cached = {}) {
  const std::function<PlanPtr(const PlanPtr&)> with_cache = [&](const PlanPtr& node) {
    std::vector<PlanPtr> inputs;
    for (const PlanPtr& input : node->inputs) inputs.push_back(with_cache(input));
    const PlanPtr now = with_inputs(*node, std::move(inputs));
    return node->is(cached) ? make_node("cache", {now}, {}) : now;
  };
  const PlanPtr bare = with_cache(strip_knobs(p.built.plan));
  return fill_knobs(apply_rules(bare, p.prepare, nullptr), kThreads);
}

std::string edited(std::string_view text, std::string_view cached = {}) {
  const LoadedPipeline p = with_param(text);
  const PlanPtr found = searched(p, cached);
  const RewrittenText out = rewritten_text(p, found);
  CHECK(plan_text(apply_rules(out.pipeline.built.plan, p.prepare, nullptr)) == plan_text(found));
  return out.edited ? out.text : "canonical: " + out.text;
}

TEST_CASE("knobs are written into the user's text, and all else stays") {
  CHECK(edited("# Sums\n"
               "param n = 9  # rows\n"
               "\n"
               "range(n)  # all\n"
               "| map(x -> fill([3000], float32(x)))  # make\n"
               "| map(x -> sum(exp(x)), num_parallel_calls=8)\n"
               "| batch(2)\n") ==
        "# Sums\n"
        "param n = 9  # rows\n"
        "\n"
        "range(n)  # all\n"
        "| map(x -> fill([3000], float32(x)), num_parallel_calls=3)  # make\n"
        "| map(x -> sum(exp(x)), num_parallel_calls=3)\n"
        "| batch(2)\n"
        "| prefetch()\n");
}

TEST_CASE("on one line") {
  CHECK(edited("range(9) | map(x -> sum(exp(fill([3000], float32(x)))))") ==
        "range(9) | map(x -> sum(exp(fill([3000], float32(x)))), num_parallel_calls=3) | "
        "prefetch()");
}

TEST_CASE("knobs that do not pay are taken out") {
  CHECK(edited("range(9)\n| map(x -> x + 1, num_parallel_calls=8)\n| prefetch(4)\n| batch(2)\n") ==
        "range(9)\n| map(x -> x + 1)\n| batch(2)\n");
  CHECK(edited("range(9) | map(num_parallel_calls=2, f=x -> x + 1) | prefetch() | batch(2)") ==
        "range(9) | map(f=x -> x + 1) | batch(2)");
  CHECK(edited("range(9)\n| prefetch(4)  # ahead\n| batch(2)") ==
        "range(9)\n  # ahead\n| batch(2)");
}

TEST_CASE("a prefetch at the end is the one that there was") {
  CHECK(edited(
            "range(9)\n| map(x -> sum(exp(fill([3000], float32(x)))))\n| prefetch(9)  # ahead\n") ==
        "range(9)\n| map(x -> sum(exp(fill([3000], float32(x)))), num_parallel_calls=3)\n"
        "| prefetch()  # ahead\n");
}

TEST_CASE("a cache is one more stage") {
  CHECK(edited("range(9)\n| filter(x -> x > 2)  # large ones\n| repeat(2)\n", "filter") ==
        "range(9)\n| filter(x -> x > 2)  # large ones\n| cache()\n| repeat(2)\n");
  CHECK(edited("range(9) | filter(x -> x > 2) | repeat(2)", "filter") ==
        "range(9) | filter(x -> x > 2) | cache() | repeat(2)");
  CHECK(edited("let data = range(9) | filter(x -> x > 2)\nzip((data, range(4)))", "filter") ==
        "let data = range(9) | filter(x -> x > 2) | cache()\nzip((data, range(4)))");
}

TEST_CASE("what no edit can say is the plan's canonical text") {
  // The cache would stand in both datasets.
  const std::string twice =
      "let f = d -> d | filter(x -> x > 2)\nzip((f(range(9)), range(4) | f()))";
  CHECK(edited("let f = d -> d | filter(x -> x > 2)\nrange(9) | f() | f()", "range") !=
        "");  // any text that builds the plan: checked in edited()
  CHECK_NOTHROW(edited(twice, "filter"));

  const auto folder = std::filesystem::temp_directory_path();
  const std::string library = folder / "penstock_text_edits_test.pipe";
  std::ofstream(library) << "let slow = d -> d | map(x -> sum(exp(fill([3000], float32(x)))))\n";
  const LoadedPipeline p = with_param(
      "import \"penstock_text_edits_test.pipe\"\nrange(9) | slow()\n", folder / "main.pipe");
  const RewrittenText out = rewritten_text(p, searched(p));
  std::filesystem::remove(library);
  CHECK(!out.edited);
  CHECK(out.text.find("num_parallel_calls=3") != std::string::npos);
}

}  // namespace
}  // namespace penstock
