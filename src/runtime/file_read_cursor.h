// Files that a map's function reads, read on the I/O pool ahead of it.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "functions/evaluate.h"
#include "io/file_bytes.h"
#include "runtime/run.h"

namespace penstock {

using ReadFile = std::function<FileBytes(const std::string& name)>;

// Returns a cursor over the blocks of `input` with one more column for each name that `names` makes
// of a row: the bytes of that file. A row whose name or file fails is an error. Keeps the order,
// and reads files of controls->files_ahead rows ahead, as far as the run's memory allows. Calls
// `read` on the threads of the I/O pool.
CursorPtr open_file_reads(CursorPtr input, Run* run, StageControls* controls,
                          std::shared_ptr<const CompiledFunction> names, ReadFile read);

}  // namespace penstock
