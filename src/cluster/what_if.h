// Hypothetical changes of a profile.
#pragma once

#include <cstdint>
#include <string>

#include "cluster/profile.h"

namespace penstock::cluster {

// Scales the batch: the worker's computing takes `factor` times as long and examples grow likewise;
// variables stay. REQUIRES a positive factor.
Profile scale_batch(Profile profile, double factor);

// Applies one change, given in words. Adds a note with the number of ops changed; fails if there is
// none.
//   faster=NAME:K     ops of worker and server whose name contains NAME take 1/K of their time
//   remove=NAME       ops whose name contains NAME take no time and send nothing
//   compress=F        transfers and collectives have 1/F of their bytes; compress=F:NAME: only
//   those
//                     whose name contains NAME
//   servers=N         places variables anew, largest first on the emptiest server
//   placement=RULE    the same on the profile's servers, greedy or round-robin (optimised needs a
//                     simulation: place_search.h)
//   split=BYTES       cuts larger variables into parts (split.h)
// Throws INVALID_ARGUMENT for other words; the message also lists those that change the network
// (replay).
Profile what_if(Profile profile, const std::string& change);

// Parses "4096" in "slice=4096": a whole number from `least` to `most`; else throws
// INVALID_ARGUMENT.
int64_t parse_whole(const std::string& text, const std::string& change, int64_t least,
                    int64_t most);

// Returns the profile of synchronous training without servers: gradients go in buckets of at most
// `bucket_bytes`, in the order of their recorded ends, and the worker keeps the variables. Throws
// INVALID_ARGUMENT for a profile without uplink transfers.
Profile to_all_reduce(const Profile& profile, int64_t bucket_bytes);

}  // namespace penstock::cluster
