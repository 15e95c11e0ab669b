// Moves the variables of a profile to another number of servers than it was recorded with.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "cluster/profile.h"

namespace penstock::cluster {

// Returns for each op the op that is its variable, or -1.
std::vector<int32_t> variables_of(const Step& step);

// Rule that assigns variables to servers. greedy: the largest first, each to the server with the
// fewest bytes. round_robin: in the order of the profile's first step (TensorFlow's
// replica_device_setter).
enum class Placement : uint8_t { greedy, round_robin, optimised };
// "greedy", "round-robin", "optimised"; throws INVALID_ARGUMENT for other words.
Placement parse_placement(const std::string& name);

// Server of each variable, by name.
using Places = std::map<std::string, int32_t>;

// REQUIRES greedy or round_robin; place_search.h does optimised. Throws INVALID_ARGUMENT for
// servers out of 1..1000 and for a profile without transfers.
Places places_of(const Profile& profile, int32_t servers, Placement placement);

// Returns the profile with its variables on `servers` servers as `places` say. A variable is a
// server op that waits for nothing; its transfers and the server ops computed from it move with it.
Profile put(const Profile& profile, int32_t servers, const Places& places);

// put() of places_of(), with a note.
Profile place(const Profile& profile, int32_t servers, Placement placement = Placement::greedy);

}  // namespace penstock::cluster
