// The parts of a training step: runs that differ in one thing only say what each costs.
//
// The step takes T with the whole pipeline, T_memory when the bytes of its files come from memory,
// and T_one when one element is handed over again and again. T - T_memory is the time for which
// training waits for storage, T_memory - T_one that for which it waits for work, and T_one is the
// consumer's own (Mohan et al., "Analyzing and Mitigating Data Stalls in DNN Training", PVLDB 2021,
// section 3.2). Runs take turns, so that what drifts meets all of them; docs/model.md.
#pragma once

#include <functional>

#include "model/intervals.h"
#include "plan/node.h"

namespace penstock {

enum class StallRun : uint8_t { whole, in_memory, one_element };
inline constexpr int kStallRuns = 3;

// One run of a kind.
struct StepSample {
  double step_seconds = 0;  // mean
  double seconds = 0;       // that the run took
};
using SampleSteps = std::function<StepSample(StallRun)>;

struct Stall {
  static constexpr int kLeastRounds = 3, kMostRounds = 12;

  double step_seconds[kStallRuns] = {};  // by kind: means over the rounds
  // Seconds of a step with their 90 % intervals; those of the stalls may lie below 0.
  Estimate storage, work, consumer;
  int rounds = 0;

  double whole() const { return step_seconds[0]; }
  // The share of the step in which the consumer waits.
  double waiting_share() const;
};

// Rounds of one run of each kind, at least kLeastRounds, then for about `seconds`.
Stall measure_stall(const SampleSteps& sample, double seconds);

// Endless: the first element of `plan` again and again, from memory. Throws ArgumentError for
// elements that hold datasets.
PlanPtr one_element_again(const PlanPtr& plan);

// The part of `plan` that reads its files and does nothing else: its highest stage that reads. Null
// if nothing is read, several branches read, or a function of a map reads.
const PlanNode* reading_part(const PlanNode& plan);

}  // namespace penstock
