// Rows of one component joined into batches: what every operator that makes batches shares.
#pragma once

#include <vector>

#include "data/block.h"
#include "data/spec.h"

namespace penstock {

// Rows [b * n, (b + 1) * n) of `rows` become row b: tensors stacked along a new first axis, ragged
// tensors joined to one of a rank higher, sparse ones to one of a rank higher with the largest
// sizes. `leaf` is that of a row. Batches whose rows do not agree are added to `errors`, each row
// of which stays once and in order. No copy where rows lie side by side.
Column stack_rows(const Column& rows, const LeafSpec& leaf, int64_t count, int64_t n,
                  std::vector<RowError>* errors);

// The error of batch `row`, unless it has one already.
void add_row_error(int64_t row, ErrorPtr error, std::vector<RowError>* errors);

}  // namespace penstock
