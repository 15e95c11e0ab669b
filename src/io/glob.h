// File patterns with the meaning of TensorFlow's list_files.
#pragma once

#include <string>
#include <vector>

namespace penstock {

// Returns the paths that match, sorted by bytes over all patterns together. `*`, `?`, `[..]` and
// `\x` match within one folder; `*` matches hidden files; folders are listed too; a path that
// several patterns match appears once for each; a pattern without a folder gives paths that begin
// with "./". Skips folders that may not be read. Throws NOT_FOUND with the names of patterns that
// match nothing: a typing mistake in one of several patterns would silently reduce the training
// data. Throws PERMISSION_DENIED if an unreadable folder may be the reason.
std::vector<std::string> match_files(const std::vector<std::string>& patterns);

}  // namespace penstock
