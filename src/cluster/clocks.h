// Recorded times of hosts whose clocks disagree.
#pragma once

#include "cluster/profile.h"

namespace penstock::cluster {

// Moves the times of a server (its ops and uplink transfers) to the start of the worker's, where
// between the two lies more than half of what the longer of them lasts; the step then begins at 0.
// A note says for which server, in how many steps, and by how much at most.
void align_clocks(Profile* profile);

}  // namespace penstock::cluster
