// Variables of a profile on another number of servers than it was recorded with.
#pragma once

#include <cstdint>
#include <vector>

#include "cluster/profile.h"

namespace penstock::cluster {

// For each op the op that is its variable, or -1.
std::vector<int32_t> variables_of(const Step& step);

// The profile with its variables on `servers` servers: the largest first, each to the server with
// the fewest bytes. A variable is a server op that waits for nothing; its transfers and what the
// server computes from it go with it. Notes say so. Throws INVALID_ARGUMENT for servers out of
// 1..1000 and for a profile without transfers.
Profile place(const Profile& profile, int32_t servers);

}  // namespace penstock::cluster
