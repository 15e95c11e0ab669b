// penstock predict: training throughput for each size of a cluster.

#include "cluster/predict.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/error.h"
#include "cli/args.h"
#include "cluster/placement.h"
#include "cluster/read_profile.h"
#include "io/file.h"

namespace penstock::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr int64_t kMostSizes = 1000;
constexpr int64_t kMostNetworkBytes = 1 << 20;
constexpr double kSmallGain = 0.05;

// "1,2,4" and "1..16".
std::vector<int32_t> parse_sizes(const std::string& flag, const std::string& text) {
  std::vector<int32_t> out;
  const auto number = [&](std::string_view part) {
    int32_t v = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), v);
    if (error != std::errc() || end != part.data() + part.size() || v < 1)
      throw UsageError{flag + " must be sizes of at least 1 such as 1,2,4 or 1..16: " + text};
    return v;
  };
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find(',', at), text.size());
    const std::string_view part = std::string_view(text).substr(at, end - at);
    const size_t dots = part.find("..");
    const int32_t first = number(part.substr(0, dots));
    const int32_t last = dots == std::string_view::npos ? first : number(part.substr(dots + 2));
    if (last < first) throw UsageError{flag + " must be a range that goes up: " + text};
    if (last - first >= kMostSizes) throw UsageError{flag + " names more than 1000 sizes: " + text};
    for (int32_t v = first; v <= last; ++v) out.push_back(v);
    at = end + 1;
  }
  return out;
}

cluster::Rig parse_rig(const Args& args, const cluster::Profile& profile) {
  cluster::Rig rig;
  rig.worker_lanes = cluster::worker_lanes(profile);
  cluster::set_policy(args.get("--policy").value_or("grpc"), &rig);
  if (const auto file = args.get("--network"))
    cluster::read_rig(*file, read_file(*file, kMostNetworkBytes), &rig);
  if (const auto rate = args.get("--bandwidth"))
    rig.server_rate = cluster::parse_rate(*rate) * cluster::kPayloadShare;
  if (const auto rate = args.get("--worker-bandwidth"))
    rig.worker_rate = cluster::parse_rate(*rate) * cluster::kPayloadShare;
  if (rig.server_rate <= 0)
    throw UsageError{"the servers' link rate is needed: --bandwidth 1Gbit or --network NET.json"};
  return rig;
}

cluster::Question parse_question(const Args& args, const cluster::Profile& profile) {
  cluster::Question q;
  q.workers = parse_sizes("--workers", args.get("--workers").value_or("1..8"));
  q.rig = parse_rig(args, profile);
  q.model = cluster::parse_model(args.get("--model").value_or("event"));
  q.step_time_s = args.get_seconds("--step-time", 0);
  q.steps = static_cast<int32_t>(std::min<int64_t>(args.get_int("--steps", q.steps, 4), 1'000'000));
  q.warm_up = std::min(q.warm_up, q.steps / 4);
  q.replications = static_cast<int32_t>(
      std::min<int64_t>(args.get_int("--replications", q.replications, 1), 10'000));
  q.seed = static_cast<uint64_t>(args.get_int("--seed", 1, 0));
  q.threads = static_cast<int32_t>(std::min<int64_t>(
      args.get_int("--threads", std::max(1u, std::thread::hardware_concurrency()), 1), 256));
  return q;
}

Json to_json(const std::vector<cluster::Point>& points, const cluster::Question& q,
             const std::vector<std::string>& notes) {
  Json list = Json::array();
  for (const cluster::Point& p : points) {
    list.push_back({{"workers", p.workers},
                    {"servers", p.servers},
                    {"steps_per_s", p.steps_per_s},
                    {"low", p.low},
                    {"high", p.high},
                    {"binds", p.binds},
                    {"use",
                     {{"worker", p.worker_use},
                      {"downlink", p.downlink_use},
                      {"uplink", p.uplink_use},
                      {"server", p.server_use}}}});
  }
  return {{"points", list}, {"payload_bytes_per_s", q.rig.server_rate}, {"notes", notes}};
}

void print(const std::vector<cluster::Point>& points, const cluster::Question& q,
           const cluster::Profile& profile, const std::vector<std::string>& notes) {
  std::printf("payload rate of a server's link: %.1f Mbit/s each way\n", q.rig.server_rate * 8e-6);
  for (const std::string& n : notes) std::printf("note: %s\n", n.c_str());
  std::printf("\nworkers servers  steps/s   90 %% interval   efficiency  binds\n");
  const cluster::Point* before = nullptr;
  for (const cluster::Point& p : points) {
    if (before != nullptr && before->servers != p.servers) before = nullptr;
    // Efficiency is against the first size of the list.
    const double one = points[0].steps_per_s / points[0].workers;
    const bool small = before != nullptr && p.steps_per_s < before->steps_per_s * (1 + kSmallGain);
    std::printf("%7d %7d %8.2f  %6.2f..%-7.2f  %8.0f %%  %s%s\n", p.workers, p.servers,
                p.steps_per_s, p.low, p.high, 100 * p.steps_per_s / (one * p.workers),
                p.binds.c_str(), small ? "; gains less than 5 %" : "");
    before = &p;
  }
  if (profile.examples > 0)
    std::printf("\nexamples/s: steps/s times %lld\n", static_cast<long long>(profile.examples));
}

int predict(const Args& args) {
  if (args.positional().size() != 1) throw UsageError{"one profile is needed: a file or a folder"};
  const cluster::Profile profile = cluster::read_profile(args.positional()[0]);
  const cluster::Question question = parse_question(args, profile);
  std::vector<std::string> notes = profile.notes;
  std::vector<cluster::Point> points;
  const std::string servers = args.get("--servers").value_or(std::to_string(profile.servers));
  for (const int32_t m : parse_sizes("--servers", servers)) {
    const bool as_recorded = m == profile.servers || cluster::has_collectives(profile);
    const cluster::Profile placed = as_recorded ? profile : cluster::place(profile, m);
    if (!as_recorded) notes.push_back(placed.notes.back());
    const auto more = cluster::predict(placed, question);
    points.insert(points.end(), more.begin(), more.end());
    if (cluster::has_collectives(profile)) break;  // no servers to count
  }
  if (args.has("--json")) {
    std::puts(to_json(points, question, notes).dump(2).c_str());
  } else {
    print(points, question, profile, notes);
  }
  return 0;
}

}  // namespace

Command predict_command() {
  return {"predict",
          "PROFILE [flags]",
          "training throughput for each size of a cluster",
          "Simulates training with parameter servers from one worker's profile: steps "
          "per second with a 90 % interval for a run of 40 steps a worker, and what binds. PROFILE "
          "is a file or a folder of TensorFlow RunMetadata, a Kineto trace of PyTorch DDP (then "
          "synchronous training is replayed), or Penstock's own JSON (docs/format/profile.md). "
          "docs/cluster-model.md derives the model.",
          {{"--workers", "LIST", "numbers of workers, such as 1,2,4 or 1..16 (1..8)"},
           {"--servers", "LIST", "numbers of servers (as recorded)"},
           {"--bandwidth", "RATE", "nominal rate of a server's link, each way: 1Gbit, 100MB/s"},
           {"--worker-bandwidth", "RATE", "the same of a worker's link; without it no limit"},
           {"--network", "NET.json", "rates and constants (docs/format/net.md)"},
           {"--policy", "NAME", "grpc, paper, fifo, maxmin, http2 or grpc-window (grpc)"},
           {"--model", "NAME", "event, or a formula to compare: lin, cynthia, ideal (event)"},
           {"--step-time", "TIME", "a step of one worker, measured without profiling"},
           {"--steps", "N", "steps simulated by each worker in each replication (120)"},
           {"--replications", "N", "simulations with other starts (8)"},
           {"--seed", "N", "of the draws (1)"},
           {"--threads", "N", "threads to simulate on (those of the machine)"},
           {"--json", "", "one JSON object (docs/format/predict.md)"}},
          predict};
}

}  // namespace penstock::cli
