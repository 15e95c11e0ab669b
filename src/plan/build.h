// Text in, plan out.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "plan/node.h"
#include "plan/syntax.h"

namespace penstock {

struct BuildOptions {
  uint64_t seed = 0;                            // ops without a seed derive theirs from it
  std::map<std::string, std::string> settings;  // --set: param name to an expression
  std::map<std::string, PlanPtr> datasets;      // names that stand for pipelines already built
};

// A plan and the text it came from (nodes point into it).
struct BuiltPlan {
  PlanPtr plan;  // its op is a sink where the text ends in a value
  std::vector<SourcePtr> sources;
  std::vector<std::string> warnings;
};

// Throws PipeError.
BuiltPlan build_plan(const Program& program, const BuildOptions& options = {});
BuiltPlan build_plan(SourcePtr source, const BuildOptions& options = {});

// A function of an element of `input`, from a lambda.
FunctionPtr build_function(const ExprPtr& lambda, const Spec& input,
                           const BuildOptions& options = {});

}  // namespace penstock
