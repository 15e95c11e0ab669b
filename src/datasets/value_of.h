// What the elaborator makes of a pipeline that ends in a value inside a function.
#pragma once

#include "functions/op.h"

namespace penstock {

// Registered with the operators: it opens pipelines.
OpDef value_of_op();

}  // namespace penstock
