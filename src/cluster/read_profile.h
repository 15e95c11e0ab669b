// Reads a profile from a file or folder in any known format.
#pragma once

#include <string>

#include "cluster/profile.h"

namespace penstock::cluster {

// Reads `path`: a file, gzip or not, of TensorFlow RunMetadata (binary or text), of Penstock's
// JSON, a Kineto trace of PyTorch, or a Chakra execution trace; or a folder of RunMetadata files
// with one step each, in order of their names, or of Kineto traces (*kineto.json, the first by
// name), or else of Chakra traces. The result is checked. Throws what the readers throw, NOT_FOUND,
// and RESOURCE_EXHAUSTED above 512 MiB per file.
Profile read_profile(const std::string& path);

}  // namespace penstock::cluster
