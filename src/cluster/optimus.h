// Optimus's model of training speed (Peng et al., EuroSys 2018), for comparison: it is fitted to
// runs of several sizes and does not replay a profile.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/predict.h"

namespace penstock::cluster {

// Steps/s measured with W workers and M servers.
struct MeasuredRun {
  int32_t workers = 1, servers = 1;
  double steps_per_s = 0;
};

// Reads a list of {"workers", "servers", "steps_per_s"}; "servers" defaults to 1, other keys are
// ignored. Throws DATA_LOSS if the text is not JSON, INVALID_ARGUMENT for values out of range.
std::vector<MeasuredRun> read_runs(const std::string& file, std::string_view json);

// A worker's step takes t[0] + t[1] W / M + t[2] W + t[3] M. Fits t >= 0 by least squares of
// relative errors, exactly. Throws INVALID_ARGUMENT for fewer than two sizes.
using OptimusFit = std::array<double, 4>;
OptimusFit fit_optimus(const std::vector<MeasuredRun>& runs);

// Returns one point for each of question.workers.
std::vector<Point> optimus_points(const OptimusFit& fit, int32_t servers, const Question& question);

}  // namespace penstock::cluster
