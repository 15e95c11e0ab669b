// A profile from wherever it lies: a file or a folder, in any format that is known.
#pragma once

#include <string>

#include "cluster/profile.h"

namespace penstock::cluster {

// `path` is a file, gzip or not, of TensorFlow RunMetadata (binary or text) or of Penstock's JSON,
// or a Kineto trace of PyTorch, or a Chakra execution trace, or a folder of RunMetadata files of
// one step each, taken in the order of their names, or of Kineto traces (*kineto.json, the first by
// name), or else of Chakra traces.
// The result has been checked. Throws what the readers throw, NOT_FOUND, and RESOURCE_EXHAUSTED
// beyond 512 MiB a file.
Profile read_profile(const std::string& path);

}  // namespace penstock::cluster
