// A profile with changes: what would the same step be like if ...
#pragma once

#include <cstdint>
#include <string>

#include "cluster/profile.h"

namespace penstock::cluster {

// Computing of the worker takes `factor` times as long, and examples are as many more: another
// batch size, with the same variables. REQUIRES a factor of more than 0.
Profile scale_batch(Profile profile, double factor);

// One change in words; each says in the notes how many ops it touched and fails when there is none:
//   faster=NAME:K     ops of worker and server whose name contains NAME take 1/K of their time
//   remove=NAME       ops whose name contains NAME take no time and send nothing
//   compress=F        transfers and collectives are 1/F of their bytes; with compress=F:NAME only
//                     those whose name contains NAME
//   servers=N         variables placed anew, largest first on the emptiest server
// Throws INVALID_ARGUMENT for other words.
Profile what_if(Profile profile, const std::string& change);

// The profile of synchronous training without servers: gradients go in buckets of at most
// `bucket_bytes`, in the order of their recorded ends, and the worker keeps the variables.
// Throws INVALID_ARGUMENT for a profile without uplink transfers.
Profile to_all_reduce(const Profile& profile, int64_t bucket_bytes);

}  // namespace penstock::cluster
