// The order in which a worker's transfers cross a link.
#pragma once

#include <cstdint>
#include <string>

#include "cluster/profile.h"

namespace penstock::cluster {

enum class Order : uint8_t {
  traced,      // as recorded, in each step anew
  reverse,     // the recorded order backwards
  random,      // drawn for each profiled step
  tic,         // TicTac's timing-independent order of downlink transfers
  tac,         // TicTac's timing-aware order of the same
  sequential,  // as recorded, one transfer at a time each way over all servers
  layer,       // by the first op that needs the variable, both ways
};
// Throws INVALID_ARGUMENT with the names there are.
Order parse_order(const std::string& name);

// The profile with its transfers in that order. `rate` is a link's payload bytes/s, for tac. TIC
// and TAC are made from the first step's graph with mean times, and order all steps alike; uplink
// transfers keep the recorded order there. Throws RESOURCE_EXHAUSTED for TIC and TAC of more than
// 2000 transfers.
Profile with_order(Profile profile, Order order, double rate, uint64_t seed);

// ORDER.json (docs/format/order.md): the first step's transfers of each link, first to last.
std::string write_order(const Profile& profile);

}  // namespace penstock::cluster
