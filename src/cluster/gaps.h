// What a recording leaves out: made good where other steps tell, and said.
#pragma once

#include "cluster/profile.h"

namespace penstock::cluster {

// Gives transfers without a size (Op::known) the mean of the same transfer in other steps, and adds
// a note with counts for what stays unknown and so counts as 0 bytes or 0 s: transfers and
// collectives, ops of workers, ops of servers. Throws INVALID_ARGUMENT when there are transfers or
// collectives and none has a size.
void fill_gaps(Profile* profile);

}  // namespace penstock::cluster
