// Fits constants of a network to measurements.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cluster/profile.h"
#include "cluster/rig.h"

namespace penstock::cluster {

// A measured pattern of long flows (docs/format/net.md): payload rates of flows from servers to
// workers that ran at the same time.
struct Pattern {
  struct Flow {
    int32_t server = 0, worker = 0;
    double rate = 0;  // payload bytes/s
  };
  std::vector<Flow> flows;
};
// Throws DATA_LOSS if the text is not JSON, INVALID_ARGUMENT for invalid flows.
Pattern read_pattern(const std::string& file, std::string_view json);

// Returns the rates of the flows under alpha-fair sharing (rates that maximise the sum of x^(1 -
// alpha) / (1 - alpha)) if each server's and worker's link carries `rate`. Uses dual ascent; alpha
// within 0.1..10.
std::vector<double> alpha_fair(const Pattern& pattern, double rate, double alpha);

struct PatternFit {
  double rate = 0;         // of a link: the highest rate at which a host sent or received
  double alpha = 1;        // sharing exponent
  bool determined = true;  // false if every exponent gives the flows the same rates
  double error = 0;        // mean relative error of the flows' rates
};
PatternFit fit_pattern(const Pattern& pattern);

// Throws INVALID_ARGUMENT if the profile has nothing to fit: synchronous training without servers,
// or no transfer with a recorded end.
void check_fits(const Profile& profile);

// The paper's overhead alpha * size + beta: least squares over the transfers that were alone on
// their link, of recorded duration less size / rate. Negative values become 0. `transfers` counts
// them; 0: nothing was fitted.
struct OverheadFit {
  double seconds_per_byte = 0, seconds = 0;
  int64_t transfers = 0;
};
OverheadFit fit_overhead(const Profile& profile, double rate);

// Error |predicted - recorded| / recorded of transfers' end times, counted from the start of the
// step (the paper's Table 1), for steps of one worker alone under `rig`.
struct EndTimeError {
  double mean = 0, median = 0, p95 = 0, most = 0;
  int64_t transfers = 0;
};
EndTimeError end_time_error(const Profile& profile, const Rig& rig);

// `rig` with the windows that the profile shows (recorded_window.h) and the candidate with the
// smallest mean error of end times. Candidates are: a token bucket (burst_bytes) with no time from
// last byte to use (receive_s, receive_s_per_byte), with that of `rig`, or with another receive_s.
// If the profile shows no window, first_bytes of 64 KiB to 64 MiB are tried too (0: transfers go
// whole). Fitted on every other step; `error` is measured on the steps between them.
struct WindowFit {
  Rig rig;
  bool found = false;  // a window was found: rig.scheduler is the profile's
  EndTimeError error;
};
WindowFit fit_window(const Profile& profile, const Rig& rig);

// Returns how much longer a recorded step lasts on average than its replay under `rig`; at least 0.
double fit_step_gap(const Profile& profile, const Rig& rig);

}  // namespace penstock::cluster
