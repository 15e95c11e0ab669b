// penstock optimize: from a plan as written to the fastest plan that gives the same data.
//
// 1. The plan is traced as written, on one thread. 2. Written knobs are taken as suggestions and
// dropped; the static rules are applied. 3. Each place where a memory cache may stand (finite, not
// random, fits) is judged by the traced demands over the passes that the plan makes; the best one
// and the plan without are traced, the cached one both while it fills and when it is full. 4. The
// model allocates the cores; knobs are written down. Every figure comes from the traces of this
// data on this machine.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "model/model.h"
#include "optimizer/prepare.h"
#include "plan/node.h"

namespace penstock {

struct OptimizeOptions {
  int cores = 1;
  int64_t memory_bytes = 0;
  double disk_bytes_per_second = 0;  // 0: not limiting
  double trace_seconds = 1.5;        // for each trace
  double passes = 10;                // assumed where the plan repeats for ever
  int64_t iterations = 1;            // by the program, of a plan that does not repeat itself
  PrepareOptions rules;
};

// Runs `plan` on one thread for so long, from element `skip` of the root on, and traces it.
using MeasurePlan = std::function<Trace(const PlanPtr& plan, double seconds, int64_t skip)>;

struct Prediction {
  Estimate rate;  // root elements per second over all passes
  double first_pass = 0;
  double later_passes = 0;
};

struct OptimizeResult {
  PlanPtr plan;            // every knob written down
  Trace before;            // of the plan as written
  double rate_before = 0;  // as traced, on one thread
  Prediction prediction;
  struct Change {
    std::string what;
    double rate = 0;  // predicted once this and those before it are done
  };
  std::vector<Change> changes;  // in the order in which they are made
  std::vector<RuleLog> rules;
  double passes = 1;               // over the data
  std::vector<std::string> notes;  // places where a cache may not stand, and why
};

OptimizeResult optimize_plan(const PlanPtr& plan, const OptimizeOptions& options,
                             const MeasurePlan& measure);

// The plan without performance options and prefetches.
PlanPtr strip_knobs(const PlanPtr& plan);
// Passes that the plan makes over what `node` gives: the repeats above it. -1: for ever.
double passes_over(const PlanNode& root, const PlanNode* node);

}  // namespace penstock
