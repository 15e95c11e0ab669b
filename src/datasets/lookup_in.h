// What the elaborator makes of lookup(table(dataset), keys).
#pragma once

#include "functions/op.h"

namespace penstock {

// Registered with the operators: it opens pipelines.
OpDef lookup_in_op();

}  // namespace penstock
