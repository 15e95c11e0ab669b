// Corrects recorded times of hosts whose clocks disagree.
#pragma once

#include "cluster/profile.h"

namespace penstock::cluster {

// Moves the times of a server (its ops and uplink transfers) to the start of the worker's if the
// two starts differ by more than half the longer of their durations; the step then begins at 0. A
// note gives the server, the number of steps and the largest shift.
void align_clocks(Profile* profile);

}  // namespace penstock::cluster
