// Splits variables into parts on several servers.
#pragma once

#include <cstdint>

#include "cluster/profile.h"

namespace penstock::cluster {

// Returns the profile with each variable that has a transfer of more than `most_bytes` cut into
// equal parts of at most that, like partitioned variables: each part has its own transfers and
// updates with its share of the bytes and of the server's computing, and ops that waited for the
// variable wait for all parts. Other variables stay on their servers; parts go to the emptiest of
// the profile's servers, largest first. A note gives the number of variables cut. Throws
// INVALID_ARGUMENT if no variable is that large, and for more than 50000 parts in a step.
Profile split_variables(const Profile& profile, int64_t most_bytes);

}  // namespace penstock::cluster
