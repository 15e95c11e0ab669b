// The rate that a run would reach with other values, from what its stages cost now.
#pragma once

#include <vector>

#include "optimizer/tuner.h"

namespace penstock {

// Costs for each element of the root, over a part of the run.
struct TunerCosts {
  std::vector<double> busy_seconds;  // of each stage, wall
  std::vector<double> block_bytes;   // of a block, of each stage
  std::vector<double> row_bytes;
  double cpu_share = 1;
  double consumer_seconds = 0;  // the consumer's own work
  double elements = 0;          // of the root, in that part
  double rate = 0;              // of the root
  double asking_share = 0;      // of the time the consumer waits for an element, or makes it
};

// Returns the costs between two views of one run. REQUIRES elements of the root between them.
TunerCosts tuner_costs(const TunerView& before, const TunerView& after);

// A limit on the rate: threads that work one after another, or the cores.
struct TunerLimit {
  enum class Kind : uint8_t { consumer, pull, calls, cores };
  Kind kind = Kind::cores;
  size_t stage = 0;  // whose calls, or which pulls; not of the consumer and the cores
  double rate = 0;
  std::vector<size_t> stages;  // that work there
};

// Returns all limits, the lowest first. `with_consumer`: the consumer's own work counts.
std::vector<TunerLimit> tuner_limits(const TunerView& view, const TunerCosts& costs,
                                     bool with_consumer);
// Returns the rate that the limits leave together: the lowest, or somewhat less where others are
// near.
double predicted_rate(const TunerView& view, const TunerCosts& costs, bool with_consumer = true);

// Returns the bytes that stages may hold ahead with the values of `view`.
double planned_bytes(const TunerView& view, const TunerCosts& costs);

}  // namespace penstock
