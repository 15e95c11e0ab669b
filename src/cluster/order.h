// Order in which a worker's transfers cross a link.
#pragma once

#include <cstdint>
#include <string>

#include "cluster/profile.h"

namespace penstock::cluster {

enum class Order : uint8_t {
  traced,      // as recorded, separately in each step
  reverse,     // the recorded order backwards
  random,      // random, drawn for each profiled step
  tic,         // TicTac's timing-independent order of downlink transfers
  tac,         // TicTac's timing-aware order of downlink transfers
  sequential,  // as recorded, one transfer at a time in each direction over all servers
  layer,       // by the first op that needs the variable, in both directions
};
// Throws INVALID_ARGUMENT that lists the valid names.
Order parse_order(const std::string& name);

// Returns the profile with its transfers in that order. `rate` is a link's payload bytes/s, for
// tac. TIC and TAC are computed from the first step's graph with mean times and order all steps
// alike; uplink transfers keep the recorded order. Throws RESOURCE_EXHAUSTED for TIC and TAC of
// more than 2000 transfers.
Profile with_order(Profile profile, Order order, double rate, uint64_t seed);

// Writes ORDER.json (docs/format/order.md): the first step's transfers of each link, first to last.
std::string write_order(const Profile& profile);

}  // namespace penstock::cluster
