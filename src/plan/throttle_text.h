// Throttles as users write them.
#pragma once

#include <string_view>

#include "io/throttle_options.h"

namespace penstock {

// Parses "bandwidth=10MB/s,open=20ms,read=1ms". Every part may be left out, as may "/s"; "none" is
// no throttle. Throws INVALID_ARGUMENT that names the wrong part.
ThrottleOptions parse_throttle(std::string_view text);

}  // namespace penstock
