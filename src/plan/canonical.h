// What a plan is, whatever its values are called and in which order its nodes were made.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "plan/node.h"

namespace penstock {

using Hash128 = std::array<uint64_t, 2>;
std::string hex(const Hash128& h);  // 32 digits

// Hashes of one thing: `identity` with seeds, `sharing` without, and `all` with seeds and
// performance options.
struct CanonicalHashes {
  Hash128 identity{}, sharing{}, all{};
};
CanonicalHashes canonical_hashes(const PlanNode& root);
// Of each node of topological(root), in that order.
std::vector<CanonicalHashes> all_canonical_hashes(const PlanNode& root);

// Equal up to names, the numbering of values and environments, and sharing of equal nodes: what
// reading the print of a plan gives back.
bool equivalent(const PlanNode& a, const PlanNode& b);

}  // namespace penstock
