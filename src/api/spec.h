// Between the specs of plans and those of users.
#pragma once

#include "data/spec.h"
#include "penstock/spec.h"

namespace penstock {

ElementSpec to_element_spec(const Spec& spec);
// The inverse. Throws INVALID_ARGUMENT for a tree that no element has: parts and keys that do not
// fit the kind.
Spec from_element_spec(const ElementSpec& spec);

}  // namespace penstock
