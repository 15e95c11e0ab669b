// Windows of flow control that a recording shows: a transfer sends its first window, others go
// ahead of the rest, and so the first of these ends later than its bytes explain.
#pragma once

#include <cstdint>

#include "cluster/profile.h"

namespace penstock::cluster {

// What a transfer sends before others have their turn: `window` bytes, then kWindowGrowth more than
// that each time. Each receiver has its own; 0: none seen.
struct Windows {
  double down_bytes = 0, up_bytes = 0;
};
// What gRPC lets a stream's window grow beyond its first one.
inline constexpr double kWindowGrowth_bytes = 1 << 20;

// The median, each way, of what was sent by others between the ends of two transfers, where that
// was 1 MiB or more, one step in five shows it, and half of them agree; links carry `rate` bytes/s.
Windows find_windows(const Profile& profile, double rate);

// The profile with overtaken transfers in pieces: their windows in front of who overtook them,
// without a recorded end, and the rest with that of the whole.
Profile split_at_windows(const Profile& profile, const Windows& windows, double rate);

}  // namespace penstock::cluster
