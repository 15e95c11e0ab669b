// Records of a list of files, read on the I/O pool ahead of the cursor that takes them.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "io/record_reader.h"
#include "runtime/run.h"

namespace penstock {

// Reads file after file, from the moment it is made. The chunks that wait hold about
// controls->bytes_ahead bytes at most, and are no more than one when half of the run's memory is in
// use; one task of the I/O pool is at work while there is room, none when
// there is not. Not thread-safe; the destructor does not wait.
class ReadAhead {
 public:
  using Open = std::function<std::unique_ptr<RecordReader>(const std::string& path)>;
  ReadAhead(Run* run, RunStage* stage, std::vector<std::string> paths, Open open);
  ~ReadAhead();
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;

  // The next records, all of one file; `file` is its index. Pending wakes the waker later.
  Poll take(RecordChunk* out, size_t* file, Waker* waker);

 private:
  class State;
  std::shared_ptr<State> state_;
};

}  // namespace penstock
