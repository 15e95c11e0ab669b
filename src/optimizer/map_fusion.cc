// map_fusion: map(f) | map(g) becomes map(x -> g(f(x))): one function, whose parts other rules see.
//
// Written knobs are kept: maps with different numbers of calls stay apart. So do those whose
// function would grow beyond kMostNodes.

#include <algorithm>
#include <chrono>
#include <span>

#include "optimizer/rule.h"
#include "plan/noop.h"

namespace penstock {
namespace {

constexpr RuleCondition kMapFusionConditions[] = {
    {"same_calls", "both maps have the same num_parallel_calls, or one has none",
     "range(9) | map(x -> x + 1, num_parallel_calls=2) | map(x -> x * 2, num_parallel_calls=3)"},
    {"same_order", "both maps have the same `deterministic`",
     "range(9) | map(x -> x + 1, deterministic=false) | map(x -> x * 2)"},
};

constexpr size_t kMostNodes = 500;

// What a map says besides its function, and how large that is.
struct Part {
  Attr calls, deterministic;
  size_t nodes;

  explicit Part(const PlanNode& map)
      : calls(map.arg("num_parallel_calls")),
        deterministic(map.arg("deterministic")),
        nodes(map.function("f")->nodes.size()) {}
  // Whether `above` may be done in the same map.
  bool takes(const Part& above) const {
    return nodes + above.nodes <= kMostNodes && same_order(above) && same_calls(above);
  }
  bool same_order(const Part& above) const { return deterministic == above.deterministic; }
  bool same_calls(const Part& above) const {
    return calls == above.calls || calls.is_auto() || above.calls.is_auto();
  }
  void add(const Part& above) {
    if (!above.calls.is_auto()) calls = above.calls;
    nodes += above.nodes;
  }
};

// Halves first: a function is copied as often as the run can be halved.
FunctionPtr composed(std::span<const FunctionPtr> functions) {
  if (functions.size() == 1) return functions[0];
  const size_t half = functions.size() / 2;
  return compose(*composed(functions.first(half)), *composed(functions.subspan(half)));
}

// The maps, lowest first, as one; its input is that of the lowest.
PlanPtr joined(std::span<const PlanPtr> maps, const Part& part, PlanPtr input) {
  const PlanNode& top = *maps.back();
  if (maps.size() == 1)
    return top.inputs[0] == input ? maps[0] : with_inputs(top, {std::move(input)});
  std::vector<FunctionPtr> functions;
  for (const PlanPtr& map : maps) functions.push_back(map->function("f"));
  Attrs args = top.args;
  args.set("num_parallel_calls", part.calls);
  return make_node("map", {std::move(input)}, std::move(args), {{"f", composed(functions)}},
                   top.span);
}

PlanPtr apply(const PlanPtr& node, RuleSite& site) {
  if (!node->is("map") || !node->inputs[0]->is("map")) return nullptr;
  const PlanPtr maps[] = {node->inputs[0], node};
  Part part(*maps[0]);
  if (!part.same_order(Part(*node))) return site.stop("same_order");
  if (!part.same_calls(Part(*node))) return site.stop("same_calls");
  if (!part.takes(Part(*node))) return nullptr;
  part.add(Part(*node));
  return joined(maps, part, maps[0]->inputs[0]);
}

}  // namespace

bool may_fuse(const PlanNode& node) { return node.is("map"); }

PlanPtr fuse_run(const PlanPtr& node, bool over_noops, std::vector<PlanPtr>* made,
                 std::vector<RuleLog>* log) {
  const auto start = std::chrono::steady_clock::now();
  const size_t logged = log ? log->size() : 0;
  std::vector<PlanPtr> maps{node};  // highest first
  PlanPtr below = node->inputs[0];
  for (;; below = below->inputs[0]) {
    const bool noop = over_noops && changes_nothing(*below);
    if (!noop && !below->is("map")) break;
    if (!noop) maps.push_back(below);
    if (noop && log) log->push_back({kNoopRemoval.name, below->op->name, below->span});
  }
  std::ranges::reverse(maps);
  for (size_t first = 0, end = 0; first < maps.size(); first = end) {
    Part part(*maps[first]);
    for (end = first + 1; end < maps.size() && part.takes(Part(*maps[end])); ++end) {
      part.add(Part(*maps[end]));
      if (log) log->push_back({kMapFusion.name, "map", maps[end]->span});
    }
    below = joined(std::span(maps).subspan(first, end - first), part, std::move(below));
    made->push_back(below);
  }
  if (log && log->size() > logged)
    log->back().ns += (std::chrono::steady_clock::now() - start).count();
  return below;
}

const Rule kMapFusion{"map_fusion", "map(f) | map(g) becomes one map",
                      "range(9) | map(x -> x + 1) | map(x -> x * 2)", apply, kMapFusionConditions};

}  // namespace penstock
