// penstock calibrate: the constants of a network from measurements, as NET.json.

#include <cstdio>

#include "cli/args.h"
#include "cli/print_json.h"
#include "cli/progress.h"
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

// Result of a fit: the network, the keys that were fitted, and the report.
struct Fitted {
  cluster::Rig rig;
  std::vector<std::string> keys;
  Json report;
  std::vector<std::string> text;

  void add(std::initializer_list<std::string> more) { keys.insert(keys.end(), more); }
};

void fit_network(const Args& args, const std::string& file, Fitted* out) {
  const cluster::Pattern pattern = cluster::read_pattern(file, read_file(file, kMostFileBytes));
  const cluster::PatternFit fit = cluster::fit_pattern(pattern);
  if (!args.has("--bandwidth")) {
    out->rig.server_rate = fit.rate;
    out->add({"server_rate"});
  }
  out->report["pattern"] = {{"flows", pattern.flows.size()},
                            {"link_bytes_per_s", fit.rate},
                            {"sharing_exponent", fit.determined ? Json(fit.alpha) : Json(nullptr)},
                            {"error", fit.error}};
  char line[250];
  if (!fit.determined) {
    std::snprintf(line, sizeof line,
                  "pattern: links of %.1f Mbit/s; it says nothing about the sharing exponent: with "
                  "each these flows have the same rates (one must cross two full links, others one "
                  "of them)",
                  fit.rate * 8e-6);
    out->text.emplace_back(line);
    return;
  }
  out->rig.sharing_exponent = fit.alpha;
  out->add({"sharing_exponent"});
  std::snprintf(line, sizeof line,
                "pattern: links of %.1f Mbit/s, sharing exponent %.2f (1: proportional, large: "
                "max-min), flows missed by %.1f %% on average",
                fit.rate * 8e-6, fit.alpha, 100 * fit.error);
  out->text.emplace_back(line);
}

std::string print_overhead(const cluster::OverheadFit& overhead) {
  if (overhead.transfers == 0) return "overhead of a transfer: none was alone on its link";
  char line[200];
  std::snprintf(line, sizeof line,
                "overhead of a transfer: %.3g us and %.3g us a MB, from %lld transfers that were "
                "alone on their link",
                overhead.seconds / kMicro, overhead.seconds_per_byte / kMicro * 1e6,
                static_cast<long long>(overhead.transfers));
  return line;
}

std::string print_window(const cluster::Rig& rig, const cluster::EndTimeError& error) {
  const double bytes = rig.scheduler.first_bytes;
  const std::string size = bytes > 0 ? std::to_string(static_cast<int64_t>(bytes)) + " bytes"
                                     : std::string("none (transfers go whole)");
  char line[250];
  std::snprintf(line, sizeof line,
                "window: %s; a rested link carries %lld bytes at once; %.2f ms from a last byte to "
                "its use; ends of %lld transfers missed by mean %.1f %%, median %.1f %%, 95 of "
                "100 %.1f %%, most %.1f %%",
                size.c_str(), static_cast<long long>(rig.burst_bytes), rig.receive_s * 1e3,
                static_cast<long long>(error.transfers), 100 * error.mean, 100 * error.median,
                100 * error.p95, 100 * error.most);
  return line;
}

void fit_profile(const std::string& path, Fitted* out) {
  const cluster::Profile profile = cluster::read_profile(path);
  cluster::check_fits(profile);
  cluster::Rig& rig = out->rig;
  rig.worker_lanes = cluster::worker_lanes(profile);
  const cluster::OverheadFit overhead = cluster::fit_overhead(profile, rig.server_rate);
  rig.receive_s = overhead.seconds;
  rig.receive_s_per_byte = overhead.seconds_per_byte;
  const cluster::WindowFit window = cluster::fit_window(profile, rig);
  rig = window.rig;
  rig.step_gap_s = cluster::fit_step_gap(profile, rig);
  out->add({"burst_bytes", "receive_s", "receive_s_per_byte"});
  // One is the remainder of the other: they have no meaning separately.
  out->add({"step_gap_s", "step_gap_transfer_s"});
  if (window.found) out->add({"first_bytes", "then_bytes", "pieces"});
  out->report["overhead"] = {{"transfers", overhead.transfers},
                             {"seconds", overhead.seconds},
                             {"microseconds_per_byte", overhead.seconds_per_byte / kMicro}};
  out->report["window"] = {{"window_bytes", static_cast<int64_t>(rig.scheduler.first_bytes)},
                           {"burst_bytes", static_cast<int64_t>(rig.burst_bytes)},
                           {"receive_seconds", rig.receive_s},
                           {"end_times", error_json(window.error)}};
  out->report["step_gap"] = {{"seconds", rig.step_gap_s}};
  out->text.push_back(print_overhead(overhead));
  out->text.push_back(print_window(rig, window.error));
  char line[100];
  std::snprintf(line, sizeof line, "gap between steps: %.2f ms beyond what the replay lasts",
                rig.step_gap_s * 1e3);
  out->text.emplace_back(line);
}

// Fits the constants that the call names; writes nothing.
Fitted fit(const Args& args) {
  if (args.positional().size() > 1) throw UsageError{"one profile at most"};
  const auto pattern = args.get("--pattern");
  if (args.positional().empty() && !pattern)
    throw UsageError{"a profile or --pattern FILE is needed"};
  const auto to = args.get("-o");
  if (!to) throw UsageError{"-o NET.json is needed"};
  const Progress progress("constants are fitted");
  Fitted out;
  cluster::set_policy(args.get("--policy").value_or("grpc"), &out.rig);
  if (const auto rate = args.get("--bandwidth")) {
    out.rig.server_rate = cluster::parse_rate(*rate) * cluster::kPayloadShare;
    out.add({"server_rate"});
  }
  if (const auto rate = args.get("--worker-bandwidth")) {
    out.rig.worker_rate = cluster::parse_rate(*rate) * cluster::kPayloadShare;
    out.add({"worker_rate"});
  }
  out.report = {{"file", *to},
                {"pattern", nullptr},
                {"overhead", nullptr},
                {"window", nullptr},
                {"step_gap", nullptr}};
  if (pattern) fit_network(args, *pattern, &out);
  if (out.rig.server_rate <= 0)
    throw UsageError{"the link rate is needed: --bandwidth 1Gbit or --pattern FILE"};
  if (!args.positional().empty()) fit_profile(args.positional()[0], &out);
  return out;
}

int calibrate(const Args& args) {
  const Fitted out = before_work([&] { return fit(args); });
  const std::string to = *args.get("-o");
  write_file_atomically(to, cluster::write_rig(out.rig, out.keys));
  if (args.has("--json")) {
    print_json(out.report);
  } else {
    for (const std::string& line : out.text) std::printf("%s\n", wrap(line, 80, 2).c_str());
  }
  return 0;
}

}  // namespace

Command calibrate_command() {
  return {
      "calibrate",
      "[PROFILE] -o NET.json [flags]",
      "constants of a network from measurements",
      "Fits the constants for predict --network. From a measured pattern of flows: the links' rate "
      "and the exponent of alpha-fair sharing. From a profile: overhead of a transfer, and the "
      "window, the links' burst and the gap between steps that agree best with the recorded "
      "steps. Writes fitted values only; the policy of predict has the others. "
      "Use it for links and hosts unlike those of TensorFlow over gRPC on Ethernet. For those the "
      "constants of predict miss less than a single profile's (docs/cluster-model.md).",
      {{"-o", "NET.json", "output file (docs/format/net.md)"},
       {"--pattern", "FILE", "flows measured at the same time (docs/format/net.md)"},
       {"--bandwidth", "RATE",
        "nominal rate of a server's link, each way (default: the "
        "pattern's)"},
       {"--worker-bandwidth", "RATE", "the same of a worker's link (default: no limit)"},
       {"--policy", "NAME",
        "policy for replaying the steps, as in predict (grpc); it is not written"},
       {"--json", "", "one JSON object (docs/format/calibrate.md)"}},
      calibrate};
}

}  // namespace penstock::cli
