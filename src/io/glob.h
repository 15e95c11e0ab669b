// File patterns, as TensorFlow's list_files reads them.
#pragma once

#include <string>
#include <vector>

namespace penstock {

// The paths that match, sorted by bytes over all patterns together. `*`, `?`, `[..]` and `\x` match
// within one folder; hidden files match `*`; folders are listed, too; a path that several patterns
// match appears once for each; a pattern without a folder gives paths that begin with "./".
// Folders that may not be read are passed over.
// Throws NOT_FOUND, naming the patterns that nothing matches, if there are such: a typing mistake
// in one of several would train on less data. PERMISSION_DENIED where that may be because a folder
// could not be listed.
std::vector<std::string> match_files(const std::vector<std::string>& patterns);

}  // namespace penstock
