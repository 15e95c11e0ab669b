// Columns whose rows are objects given one by one.
#pragma once

#include <vector>

#include "data/column.h"

namespace penstock {

// An object of null stands at rows without a value.
Column object_column(std::vector<ObjectPtr> rows);

}  // namespace penstock
