// Writes a simulated run as a Chrome trace, which Perfetto opens.
#pragma once

#include <string>
#include <vector>

#include "cluster/predict.h"

namespace penstock::cluster {

// Returns the first steps of `workers` workers, each starting `question.rig.stagger_s` after the
// one before: one process for each worker with its computing and links, one for each server. With
// all-reduce, a process for each rank with its computing and collectives. Names are those of the
// profile.
std::string write_timeline(const std::vector<Profile>& kinds, const Question& question,
                           int32_t workers);

}  // namespace penstock::cluster
