// Files that a map's function reads, read on the I/O pool ahead of it.
#pragma once

#include <memory>

#include "functions/evaluate.h"
#include "runtime/run.h"

namespace penstock {

// The blocks of `input` with the bytes of files behind their columns: one column for each name that
// `names` gives for a row. A row whose name or file fails is an error. Some rows are read ahead, as
// far as the run's memory allows; in order.
CursorPtr open_file_reads(CursorPtr input, Run* run, std::shared_ptr<const CompiledFunction> names);

}  // namespace penstock
