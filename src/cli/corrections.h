// predict --corrections: the paper's rule with and without each correction.
#pragma once

#include <vector>

#include "cluster/predict.h"

namespace penstock::cli {

// Prints steps/s of each of question.workers: by the paper's rule, by that with each correction
// alone, by question.rig, and by that without each.
void print_corrections(const std::vector<cluster::Profile>& kinds,
                       const cluster::Question& question);

}  // namespace penstock::cli
