// Penstock's own profile format (docs/format/profile.md).
#pragma once

#include <string>
#include <string_view>

#include "cluster/profile.h"

namespace penstock::cluster {

// Returns whether `bytes` look like this format: a JSON object that begins with "format":
// "penstock-profile".
bool is_profile_json(std::string_view bytes);

// Reads and checks a profile. `file` is for messages. Throws DATA_LOSS if the text is not JSON,
// INVALID_ARGUMENT for missing or wrong values, naming step and op.
Profile read_profile_json(const std::string& file, std::string_view bytes);

// Writes one line per step; read_profile_json returns an equal profile. Bytes of names that are not
// UTF-8, which recordings may hold, become U+FFFD.
std::string write_profile_json(const Profile& profile);

}  // namespace penstock::cluster
