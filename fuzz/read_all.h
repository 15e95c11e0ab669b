// Bytes as a file, and a pipeline over it run to its end: errors are rows, nothing else may happen.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <optional>
#include <string>

#include "datasets/datasets.h"
#include "plan/build.h"
#include "plan/diagnostic.h"
#include "runtime/run.h"

namespace penstock {

// A file in memory, known by its path until the next one is made.
inline std::string file_of(const uint8_t* data, size_t size) {
  static const int fd = ::memfd_create("fuzz", 0);
  PENSTOCK_CHECK(::ftruncate(fd, 0) == 0);
  PENSTOCK_CHECK(::pwrite(fd, data, size, 0) == static_cast<ssize_t>(size));
  return "/proc/self/fd/" + std::to_string(fd);
}

// Reads the blocks of the plan, from its beginning or from a checkpoint.
inline void read_blocks(const PlanPtr& plan, const std::optional<ResumePoint>& from = {}) {
  RunOptions options;
  options.threads = 1;
  options.io_threads = 1;
  options.memory_bytes = int64_t{256} << 20;
  options.marks = from.has_value();
  try {
    BlockIterator iterator(plan, options, std::make_shared<PipelineState>(), {}, from);
    Block block;
    while (iterator.next(&block, 7)) {
      for (const Column& c : block.columns) c.payload_bytes();
    }
  } catch (const OpenError&) {
  }
}

// Runs `pipeline` with FILE replaced by the path.
inline void read_all(std::string pipeline, const std::string& path) {
  register_datasets();
  pipeline.replace(pipeline.find("FILE"), 4, path);
  try {
    read_blocks(build_plan(std::make_shared<const Source>(Source{"fuzz.pipe", pipeline}), {}).plan);
  } catch (const PipeError&) {
    // Refused: the file's header is unreadable.
  }
}

}  // namespace penstock
