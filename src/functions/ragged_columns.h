// Elementwise ops on columns of lists: on all entries of the block at once.
#pragma once

#include "functions/op.h"

namespace penstock {

// Runs the op's block kernel over the entries of ragged columns as if each were a row; entries that
// fail fail their row. False when the op is not elementwise, no input is a ragged column, or an
// other one is neither a ragged column of the same lengths nor a constant scalar.
// REQUIRES op.block.
bool run_over_ragged_columns(const OpDef& op, const BlockCall& call);

// Rows of one length as a dense column over the same entries: more ops run over whole blocks of it.
// Other columns, and blocks so short that it says nothing, stay as they are.
Column uniform_as_dense(Column column);

}  // namespace penstock
