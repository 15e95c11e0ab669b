// Penstock's own profile format, docs/format/profile.md.
#pragma once

#include <string>
#include <string_view>

#include "cluster/profile.h"

namespace penstock::cluster {

// Whether `bytes` look like it: a JSON object that begins with "format": "penstock-profile".
bool is_profile_json(std::string_view bytes);

// Reads and checks. `file` is for messages. Throws DATA_LOSS for text that is no JSON,
// INVALID_ARGUMENT for values that are missing or wrong, naming step and op.
Profile read_profile_json(const std::string& file, std::string_view bytes);

// One line a step; read_profile_json gives an equal profile. Bytes of names that are no UTF-8,
// which recordings may hold, become U+FFFD.
std::string write_profile_json(const Profile& profile);

}  // namespace penstock::cluster
