// penstock profile inspect --html: one self-contained page that needs no network.
#pragma once

#include <string>

#include "cluster/inspect.h"
#include "cluster/profile.h"

namespace penstock {

// The four phases on one time axis, the table of resources, what hides and what is missing. `rate`
// is what inspect() replayed transfers at. UTF-8; every string of the profile is escaped.
std::string profile_page(const cluster::Profile& profile, const cluster::Inspection& found,
                         double rate);

}  // namespace penstock
