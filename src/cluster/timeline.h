// A simulated run as a Chrome trace, which Perfetto opens.
#pragma once

#include <string>
#include <vector>

#include "cluster/predict.h"

namespace penstock::cluster {

// The first steps of `workers` workers, each beginning `question.rig.stagger_s` after the other: a
// process for each worker with its computing and its links, one for each server. Names are those
// of the profile.
std::string write_timeline(const std::vector<Profile>& kinds, const Question& question,
                           int32_t workers);

}  // namespace penstock::cluster
