#include "job/stage_costs.h"

#include <doctest/doctest.h>

#include "job/optimization.h"
#include "job/pipeline.h"

namespace penstock {
namespace {

Trace traced(const std::string& text) {
  PipelineChoices choices;
  choices.rewrite = choices.automatic = false;
  const auto p = load_pipeline(std::make_shared<const Source>(Source{"test", text}), choices);
  return run_alone(p.plan, p.run_options, {}).trace;
}

TEST_CASE("stages of two pipelines side by side") {
  const std::string slow = " | map(x -> sum(exp(fill([20000], float32(x)))))";
  const Trace a = traced("range(50) | map(x -> x + 1) | map(x -> x + 2)");
  const Trace b = traced("range(50)" + slow + " | batch(1)");
  const std::vector<StageCost> costs = stage_costs(a, b);
  REQUIRE(costs.size() == 5);
  CHECK(costs[0].stage == "map: fill");
  CHECK(!costs[0].a);
  CHECK(costs[0].b.value() > 0);
  int both = 0;
  for (size_t i = 0; i < costs.size(); ++i) {
    if (i > 0) CHECK(std::abs(costs[i - 1].difference()) >= std::abs(costs[i].difference()));
    both += costs[i].a && costs[i].b;
    CHECK((costs[i].a || costs[i].b));
  }
  CHECK(both == 1);  // range
}

}  // namespace
}  // namespace penstock
