// Variables cut into parts that go to several servers.
#pragma once

#include <cstdint>

#include "cluster/profile.h"

namespace penstock::cluster {

// The profile with each variable of a transfer of more than `most_bytes` cut into equal parts of at
// most that, as partitioned variables are: each part has its own transfers and updates, of its
// share of the bytes and of the server's computing, and what waited for the variable waits for all
// parts. The others stay where they are; the parts go to the emptiest of the profile's servers,
// largest first. A note says how many were cut. Throws INVALID_ARGUMENT where none is as large, and
// for more than 50000 parts in a step.
Profile split_variables(const Profile& profile, int64_t most_bytes);

}  // namespace penstock::cluster
