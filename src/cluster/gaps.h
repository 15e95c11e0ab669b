// Fills gaps of a recording from its other steps and reports the rest.
#pragma once

#include "cluster/profile.h"

namespace penstock::cluster {

// Gives transfers without a size (Op::known) the mean size of the same transfer in other steps.
// Adds a note that counts the values still unknown, which count as 0 bytes or 0 s: transfers and
// collectives, ops of workers, ops of servers. Throws INVALID_ARGUMENT if there are transfers or
// collectives and none has a size.
void fill_gaps(Profile* profile);

}  // namespace penstock::cluster
