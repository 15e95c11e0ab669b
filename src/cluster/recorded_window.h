// Windows of flow control that a recording shows. A transfer sends its first window, then others go
// ahead of the rest, so the first of the others ends later than its bytes explain.
#pragma once

#include <cstdint>

#include "cluster/profile.h"

namespace penstock::cluster {

// Bytes that a transfer sends before others have their turn: first `window` bytes, then
// kWindowGrowth more than that each time. Each receiver has its own; 0: not observed.
struct Windows {
  double down_bytes = 0, up_bytes = 0;
};
// Growth of a stream's window in gRPC beyond its first one.
inline constexpr double kWindowGrowth_bytes = 1 << 20;

// Returns, for each direction, the median of the bytes sent by others between the ends of two
// transfers, if that is at least 1 MiB, one step in five shows it, and half of the observations
// agree. Links carry `rate` bytes/s.
Windows find_windows(const Profile& profile, double rate);

// Returns the profile with overtaken transfers in pieces: windows before the overtaking transfers
// have no recorded end, the last piece has the end of the whole.
Profile split_at_windows(const Profile& profile, const Windows& windows, double rate);

}  // namespace penstock::cluster
