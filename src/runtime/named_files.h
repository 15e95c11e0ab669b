// The files that a pipeline reads, as far as its text says: what the identity of a plan counts
// besides the plan (plan/node.h), so that a cache or a checkpoint never meets other data.
#pragma once

#include <compare>
#include <string>
#include <vector>

#include "plan/node.h"

namespace penstock {

struct FileState {
  std::string path;
  int64_t bytes = 0, time_ns = 0;  // size, last change
  std::string etag;                // of file systems that have one
  auto operator<=>(const FileState&) const = default;
};

// As they are now, by path: those that the stage itself names, its inputs aside. Texts among the
// arguments of a source name files, folders and patterns of files; texts in functions, and elements
// of from_tensor_slices and its kin, name the files of exactly that path. A text that happens to
// name a file counts in vain; only names that are computed from data are missed.
std::vector<FileState> named_files(const PlanNode& stage);

// 32 hex digits: the identity fingerprint of the plan, with size and time of all files named in it.
std::string identity_with_files(const PlanNode& plan);

}  // namespace penstock
