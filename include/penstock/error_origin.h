// The file, offset and record that an error names.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace penstock {

class Error;

// At least one of offset and record is set if the error is about a part of the file.
struct ErrorOrigin {
  std::string file;               // empty: the error names no file
  std::optional<int64_t> offset;  // in bytes; of the compressed file, if it is compressed
  std::optional<int64_t> record;  // counted from 0

  bool operator==(const ErrorOrigin&) const = default;
};

// Reads the origin back from the message, which is what checkpoints, snapshots and other processes
// carry of an error.
ErrorOrigin error_origin(const Error& error);

}  // namespace penstock
