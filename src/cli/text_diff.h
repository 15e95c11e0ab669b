// A comparison of two texts, line by line.
#pragma once

#include <string>

namespace penstock::cli {

// Returns the lines of both texts in order, " " kept, "-" removed, "+" added (painted for standard
// output): by the longest common subsequence.
std::string text_diff(const std::string& before, const std::string& after);

}  // namespace penstock::cli
