#include "job/rewrites.h"

#include <algorithm>

#include "job/traced_run.h"
#include "plan/diagnostic.h"

namespace penstock {
namespace {

std::string place_of(const Span& span) {
  if (!span.source) return {};
  const Position at = position_of(*span.source, span.begin);
  return span.source->name + ":" + std::to_string(at.line) + ":" + std::to_string(at.column);
}

std::string_view doc_of_rule(std::string_view name) {
  const auto at = std::ranges::find(rules(), name, &Rule::name);
  return at == rules().end() ? std::string_view() : at->doc;
}

void add_once(Rewrite rewrite, std::vector<Rewrite>* list) {
  const bool known = std::ranges::any_of(*list, [&](const Rewrite& r) {
    return r.rule == rewrite.rule && r.place == rewrite.place && r.condition == rewrite.condition;
  });
  if (!known || rewrite.place.empty()) list->push_back(std::move(rewrite));
}

}  // namespace

Rewrites rewrites_of(const LoadedPipeline& pipeline) {
  PrepareOptions options = pipeline.prepare;
  options.says_why = true;
  std::vector<RuleLog> log;
  const PlanPtr plan = prepare_plan(pipeline.built.plan, options, &log);
  Rewrites out;
  for (const RuleLog& entry : log) {
    const RuleCondition* stopped_by = entry.stopped_by;
    add_once({entry.rule, stopped_by ? stopped_by->doc : doc_of_rule(entry.rule), entry.stage,
              place_of(entry.span), stopped_by ? stopped_by->name : std::string_view()},
             stopped_by ? &out.stopped : &out.applied);
  }
  std::ranges::reverse(out.stopped);  // inputs come first in the log
  out.program = plan_text(plan);
  return out;
}

}  // namespace penstock
