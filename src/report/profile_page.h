// penstock profile inspect --html: one self-contained page that needs no network.
#pragma once

#include <string>

#include "cluster/inspect.h"
#include "cluster/profile.h"

namespace penstock {

// Draws the four phases on one time axis, the table of resources, the overlap and the gaps. `rate`
// is the rate at which inspect() replayed transfers. Returns UTF-8; escapes every string of the
// profile.
std::string profile_page(const cluster::Profile& profile, const cluster::Inspection& found,
                         double rate);

}  // namespace penstock
