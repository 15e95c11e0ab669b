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
//   placement=RULE    the same on the profile's servers, greedy or round-robin (what needs a
//                     simulation, optimised, is not done here: place_search.h)
//   split=BYTES       larger variables cut into parts (split.h)
// Throws INVALID_ARGUMENT for other words, naming also those that change the network (replay).
Profile what_if(Profile profile, const std::string& change);

// "4096" in "slice=4096": a whole number from `least` to `most`, else INVALID_ARGUMENT.
int64_t parse_whole(const std::string& text, const std::string& change, int64_t least,
                    int64_t most);

// The profile of synchronous training without servers: gradients go in buckets of at most
// `bucket_bytes`, in the order of their recorded ends, and the worker keeps the variables.
// Throws INVALID_ARGUMENT for a profile without uplink transfers.
Profile to_all_reduce(const Profile& profile, int64_t bucket_bytes);

}  // namespace penstock::cluster
