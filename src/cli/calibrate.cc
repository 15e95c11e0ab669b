// penstock calibrate: the constants of a network from measurements, as NET.json.

#include <cstdio>

#include "cli/args.h"
#include "cli/print_json.h"
#include "cluster/calibrate.h"
#include "cluster/read_profile.h"
#include "io/file.h"

namespace penstock::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr int64_t kMostFileBytes = 16 << 20;
constexpr double kMicro = 1e-6;

Json error_json(const cluster::EndTimeError& e) {
  return {{"transfers", e.transfers},
          {"mean", e.mean},
          {"median", e.median},
          {"p95", e.p95},
          {"most", e.most}};
}

// What was fitted goes to `rig`, to the object and, as lines, to `text`.
void fit_network(const Args& args, const std::string& file, cluster::Rig* rig, Json* out,
                 std::vector<std::string>* text) {
  const cluster::Pattern pattern = cluster::read_pattern(file, read_file(file, kMostFileBytes));
  const cluster::PatternFit fit = cluster::fit_pattern(pattern);
  if (!args.has("--bandwidth")) rig->server_rate = fit.rate;
  rig->sharing_exponent = fit.alpha;
  (*out)["pattern"] = {{"flows", pattern.flows.size()},
                       {"link_bytes_per_s", fit.rate},
                       {"sharing_exponent", fit.alpha},
                       {"error", fit.error}};
  char line[200];
  std::snprintf(line, sizeof line,
                "pattern: links of %.1f Mbit/s, sharing exponent %.2f (1: proportional, large: "
                "max-min), flows missed by %.1f %% on average",
                fit.rate * 8e-6, fit.alpha, 100 * fit.error);
  text->emplace_back(line);
}

void fit_profile(const std::string& path, cluster::Rig* rig, Json* out,
                 std::vector<std::string>* text) {
  const cluster::Profile profile = cluster::read_profile(path);
  rig->worker_lanes = cluster::worker_lanes(profile);
  const cluster::OverheadFit overhead = cluster::fit_overhead(profile, rig->server_rate);
  rig->receive_s = overhead.seconds;
  rig->receive_s_per_byte = overhead.seconds_per_byte;
  const cluster::WindowFit window = cluster::fit_window(profile, *rig);
  *rig = window.rig;
  const double bytes = rig->scheduler.first_bytes;
  rig->step_gap_s = cluster::fit_step_gap(profile, *rig);
  (*out)["overhead"] = {{"transfers", overhead.transfers},
                        {"seconds", overhead.seconds},
                        {"microseconds_per_byte", overhead.seconds_per_byte / kMicro}};
  (*out)["window"] = {{"window_bytes", static_cast<int64_t>(bytes)},
                      {"burst_bytes", static_cast<int64_t>(rig->burst_bytes)},
                      {"receive_seconds", rig->receive_s},
                      {"end_times", error_json(window.error)}};
  (*out)["step_gap"] = {{"seconds", rig->step_gap_s}};
  char line[250];
  std::snprintf(line, sizeof line,
                "overhead of a transfer: %.3g us and %.3g us a MB, from %lld transfers that were "
                "alone on their link",
                overhead.seconds / kMicro, overhead.seconds_per_byte / kMicro * 1e6,
                static_cast<long long>(overhead.transfers));
  text->emplace_back(line);
  const std::string size = bytes > 0 ? std::to_string(static_cast<int64_t>(bytes)) + " bytes"
                                     : std::string("none (transfers go whole)");
  std::snprintf(line, sizeof line,
                "window: %s; a rested link carries %lld bytes at once; %.2f ms from a last byte to "
                "its use; ends of %lld transfers missed by mean %.1f %%, median %.1f %%, 95 of "
                "100 %.1f %%, most %.1f %%",
                size.c_str(), static_cast<long long>(rig->burst_bytes), rig->receive_s * 1e3,
                static_cast<long long>(window.error.transfers), 100 * window.error.mean,
                100 * window.error.median, 100 * window.error.p95, 100 * window.error.most);
  text->emplace_back(line);
  std::snprintf(line, sizeof line, "gap between steps: %.2f ms beyond what the replay lasts",
                rig->step_gap_s * 1e3);
  text->emplace_back(line);
}

int calibrate(const Args& args) {
  if (args.positional().size() > 1) throw UsageError{"one profile at most"};
  const auto pattern = args.get("--pattern");
  if (args.positional().empty() && !pattern)
    throw UsageError{"a profile or --pattern FILE is needed"};
  const auto to = args.get("-o");
  if (!to) throw UsageError{"-o NET.json is needed"};
  cluster::Rig rig;
  cluster::set_policy(args.get("--policy").value_or("grpc"), &rig);
  if (const auto rate = args.get("--bandwidth"))
    rig.server_rate = cluster::parse_rate(*rate) * cluster::kPayloadShare;
  Json out{{"file", *to},
           {"pattern", nullptr},
           {"overhead", nullptr},
           {"window", nullptr},
           {"step_gap", nullptr}};
  std::vector<std::string> text;
  if (pattern) fit_network(args, *pattern, &rig, &out, &text);
  if (rig.server_rate <= 0)
    throw UsageError{"the link rate is needed: --bandwidth 1Gbit or --pattern FILE"};
  if (!args.positional().empty()) fit_profile(args.positional()[0], &rig, &out, &text);
  write_file_atomically(*to, cluster::write_rig(rig));
  if (args.has("--json")) {
    print_json(out);
  } else {
    for (const std::string& line : text) std::printf("%s\n", wrap(line, 80, 2).c_str());
  }
  return 0;
}

}  // namespace

Command calibrate_command() {
  return {
      "calibrate",
      "[PROFILE] -o NET.json [flags]",
      "constants of a network from measurements",
      "Fits what predict --network reads. From a measured pattern of flows: the links' rate and "
      "the exponent of alpha-fair sharing. From a profile: overhead of a transfer, and the "
      "window, the links' burst and the gap between steps that agree best with the recorded "
      "steps.",
      {{"-o", "NET.json", "what is written (docs/format/net.md)"},
       {"--pattern", "FILE", "flows measured at the same time (docs/format/net.md)"},
       {"--bandwidth", "RATE",
        "nominal rate of a server's link, each way; without it the "
        "pattern's"},
       {"--policy", "NAME", "where all other constants come from, as in predict (grpc)"},
       {"--json", "", "one JSON object (docs/format/calibrate.md)"}},
      calibrate};
}

}  // namespace penstock::cli
