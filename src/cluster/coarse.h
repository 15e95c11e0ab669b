// Formulas for whole phases from the literature, for comparison.
#pragma once

#include <vector>

#include "cluster/predict.h"

namespace penstock::cluster {

// Returns one point for each of question.workers by question.model (not event). `step_s` is the
// step of one worker alone.
std::vector<Point> coarse_points(const Profile& profile, const Question& question, double step_s);

}  // namespace penstock::cluster
