// Columns whose rows are individual objects.
#pragma once

#include <vector>

#include "data/column.h"

namespace penstock {

// Rows without a value have a null object.
Column object_column(std::vector<ObjectPtr> rows);

}  // namespace penstock
