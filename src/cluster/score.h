// Predicted points beside measured runs.
#pragma once

#include <string>
#include <vector>

#include "cluster/optimus.h"
#include "cluster/predict.h"

namespace penstock::cluster {

struct ScoredRun {
  MeasuredRun run;
  double predicted = 0;  // steps/s
  double error = 0;      // predicted over measured, less 1
  bool inside = false;   // within the interval; false where the point has none
};

struct Score {
  std::vector<ScoredRun> runs;  // of sizes that are among the points, in the order of the runs
  double mean_error = 0;        // of the errors' absolute values
  int inside = 0;               // runs within the interval of their point
  bool intervals = false;       // the points have some
  int others = 0;               // runs of other sizes
};

// A point of all-reduce has no servers: runs with its number of workers are its.
Score score(const std::vector<Point>& points, const std::vector<MeasuredRun>& runs);
// Returns a line for each run, and what they say together; the worst is named.
std::vector<std::string> score_lines(const Score& score);

}  // namespace penstock::cluster
