// predict --corrections: the paper's rule with and without each thing put right.
#pragma once

#include <vector>

#include "cluster/predict.h"

namespace penstock::cli {

// Prints steps/s of each of question.workers: the paper's rule, the rule with each correction
// alone, question.rig, and that without each.
void print_corrections(const std::vector<cluster::Profile>& kinds,
                       const cluster::Question& question);

}  // namespace penstock::cli
