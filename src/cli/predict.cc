// penstock predict: training throughput for each size of a cluster.

#include "cluster/predict.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <thread>

#include "base/error.h"
#include "cli/args.h"
#include "cli/corrections.h"
#include "cli/predict_feed.h"
#include "cli/prediction.h"
#include "cli/print_json.h"
#include "cli/progress.h"
#include "cluster/read_profile.h"
#include "cluster/sizes.h"
#include "cluster/timeline.h"
#include "io/file.h"

namespace penstock::cli {
namespace {

constexpr int64_t kMostSizes = 1000;
constexpr int32_t kMostThreads = 256;
constexpr int64_t kMostNetworkBytes = 1 << 20;
constexpr double kNoLimit = std::numeric_limits<double>::infinity();
constexpr double kEnough =
    0.1;  // more precision than this share of the model's own error is wasted

// Parses "1,2,4" and "1..16".
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

int32_t within(const char* flag, int64_t v, int32_t least, int32_t most) {
  if (v > most)
    throw UsageError{std::string(flag) + " must be from " + std::to_string(least) + " to " +
                     std::to_string(most) + ": " + std::to_string(v)};
  return static_cast<int32_t>(v);
}

double parse_positive(const std::string& flag, const std::string& text) {
  double v = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), v);
  if (error != std::errc() || end != text.data() + text.size() || !(v > 0) || !std::isfinite(v))
    throw UsageError{flag + " must be a number of more than 0: " + text};
  return v;
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

void parse_mode(const Args& args, const cluster::Profile& profile, cluster::Question* q) {
  const char* fallback = cluster::has_collectives(profile) ? "allreduce" : "async";
  q->mode = cluster::parse_mode(args.get("--mode").value_or(fallback));
  q->backups = within("--backup", args.get_int("--backup", 0, 0), 0, 10'000);
  if (q->backups > 0 && q->mode != cluster::Mode::sync)
    throw UsageError{"--backup goes with --mode sync"};
  const std::string shape = args.get("--all-reduce").value_or("ring");
  if (shape != "ring" && shape != "tree")
    throw UsageError{"--all-reduce is ring or tree: " + shape};
  q->tree = shape == "tree";
}

cluster::Question parse_question(const Args& args, const cluster::Profile& profile) {
  cluster::Question q;
  q.workers = parse_sizes("--workers", args.get("--workers").value_or("1..8"));
  q.rig = parse_rig(args, profile);
  q.model = cluster::parse_model(args.get("--model").value_or("event"));
  parse_mode(args, profile, &q);
  q.step_time_s = args.get_seconds("--step-time", 0);
  if (const auto text = args.get("--step-time"); text && !std::isalpha(text->back()))
    throw UsageError{"--step-time needs a unit, " + *text + "ms or " + *text + "s: " + *text};
  if (q.step_time_s <= 0 && args.has("--step-time"))
    throw UsageError{"--step-time must be more than 0: " + *args.get("--step-time")};
  if (args.get("--policy").value_or("grpc") == "paper" || args.has("--corrections")) {
    q.steps = 1000;  // as in the paper
    q.warm_up = 50;
  }
  q.steps = within("--steps", args.get_int("--steps", q.steps, 4), 4, 1'000'000);
  q.warm_up = std::min(q.warm_up, q.steps / 4);
  q.replications =
      within("--replications", args.get_int("--replications", q.replications, 1), 1, 10'000);
  if (!args.has("--replications")) q.enough = kEnough;
  q.seed = static_cast<uint64_t>(args.get_int("--seed", 1, 0));
  const auto cores = static_cast<int32_t>(std::thread::hardware_concurrency());
  q.threads = within("--threads", args.get_int("--threads", std::clamp(cores, 1, kMostThreads), 1),
                     1, kMostThreads);
  return q;
}

void parse_prices(const Args& args, Prediction* out) {
  out->budget = kNoLimit;
  if (const auto text = args.get("--budget")) out->budget = parse_positive("--budget", *text);
  if (const auto file = args.get("--prices"))
    out->prices = cluster::read_prices(*file, read_file(*file, kMostNetworkBytes));
  if (args.has("--budget") && !args.has("--prices"))
    throw UsageError{"--budget needs prices: --prices PRICES.json"};
  if (args.has("--prices") && !args.has("--budget") && !args.has("--train"))
    throw UsageError{"--prices needs a question: --budget PRICE, or --train N --within TIME"};
}

// REQUIRES out->examples.
void parse_deadline(const Args& args, Prediction* out) {
  if (args.has("--train") != args.has("--within"))
    throw UsageError{"--train N and --within TIME go together"};
  if (!args.has("--train")) return;
  if (out->examples <= 0)
    throw UsageError{"--train counts examples, and the profile does not say how many a step has: "
                     "--examples N"};
  out->deadline = {parse_positive("--train", *args.get("--train")),
                   args.get_seconds("--within", 0)};
  if (out->deadline->within_s <= 0)
    throw UsageError{"--within must be more than 0: " + *args.get("--within")};
}

std::vector<cluster::Profile> prepare(const Args& args, std::vector<cluster::Profile> kinds,
                                      const cluster::Question& q) {
  const auto order = cluster::parse_order(args.get("--order").value_or("traced"));
  const double batch =
      args.has("--batch-scale") ? parse_positive("--batch-scale", *args.get("--batch-scale")) : 1;
  return cluster::prepared_kinds(std::move(kinds), order, batch, q);
}

// Reads the runs that were measured: to compare with, and to fit the formula that needs them.
std::vector<cluster::MeasuredRun> read_measured(const Args& args, const cluster::Question& q) {
  const auto file = args.get("--measured");
  if (q.model == cluster::Model::optimus) {
    if (!file) throw UsageError{"--model optimus is fitted to runs: --measured RUNS.json"};
    if (q.mode != cluster::Mode::async)
      throw UsageError{"--model optimus is of asynchronous training"};
  }
  if (!file) return {};
  return cluster::read_runs(*file, read_file(*file, kMostNetworkBytes));
}

cluster::Placed place_all(const Args& args, const std::vector<cluster::Profile>& kinds,
                          Prediction* out) {
  const Progress progress("variables are placed");
  const std::string servers = args.get("--servers").value_or(std::to_string(kinds[0].servers));
  std::optional<cluster::Placement> how;
  if (const auto name = args.get("--placement")) how = cluster::parse_placement(*name);
  if (how == cluster::Placement::optimised && kinds.size() > 1)
    throw UsageError{"--placement optimised goes with one profile"};
  return cluster::place_kinds(kinds, parse_sizes("--servers", servers), how, out->question,
                              &out->notes);
}

// Adds the points of all numbers of servers, and prints each as it is ready.
void add_points(const Args& args, const cluster::Placed& placed, Prediction* out) {
  const bool print = !args.has("--json");
  const Progress progress("simulations");
  cluster::Watch watch;
  watch.point = [&](const cluster::Point& point) {
    out->points.push_back(point);
    if (!print) return;
    Progress::hide();
    if (out->points.size() == 1) print_head(*out);
    print_point(point, *out);
    std::fflush(stdout);
  };
  watch.simulation = [](size_t done, size_t whole) {
    Progress::count(static_cast<int64_t>(done), static_cast<int64_t>(whole));
  };
  cluster::predict_sizes(placed, out->question, out->measured, watch);
}

// Refuses flags that contradict the mode or would be ignored silently.
void check_flags(const Args& args, const cluster::Question& q, std::vector<std::string>* notes) {
  if (q.mode == cluster::Mode::all_reduce) {
    for (const char* flag : {"-o", "--corrections"}) {
      if (args.has(flag))
        throw UsageError{std::string(flag) + " is of parameter servers, not of all-reduce"};
    }
    for (const char* flag :
         {"--policy", "--order", "--servers", "--placement", "--worker-bandwidth"}) {
      if (args.has(flag)) {
        notes->push_back(std::string(flag) +
                         " is of parameter servers: it changes nothing with all-reduce");
      }
    }
  }
  if (args.has("--corrections")) {
    for (const char* flag : {"--policy", "--json", "--html", "--perfetto", "-o", "--feed",
                             "--measured", "--model", "--prices", "--servers", "--train"}) {
      if (args.has(flag)) throw UsageError{std::string(flag) + " does not go with --corrections"};
    }
  }
}

void write_files(const Args& args, const std::vector<cluster::Profile>& placed,
                 const Prediction& p) {
  if (const auto file = args.get("-o"))
    write_file_atomically(*file, cluster::write_order(placed[0]));
  if (const auto file = args.get("--html"))
    write_file_atomically(*file, prediction_page(p, "Training with " + args.positional()[0]));
  if (const auto file = args.get("--perfetto")) {
    const int32_t workers = p.question.workers.back();
    write_file_atomically(*file, cluster::write_timeline(placed, p.question, workers));
  }
}

// Reads and checks the call before any simulation.
std::vector<cluster::Profile> read_call(const Args& args, Prediction* prediction) {
  const Progress progress("the profile is read");
  Prediction& out = *prediction;
  std::vector<cluster::Profile> kinds;
  for (const std::string& path : args.positional()) kinds.push_back(cluster::read_profile(path));
  out.question = parse_question(args, kinds[0]);
  check_flags(args, out.question, &out.notes);
  check_feed(args);
  parse_prices(args, &out);
  out.measured = read_measured(args, out.question);
  if (args.has("--examples")) {
    for (cluster::Profile& p : kinds) p.examples = args.get_int("--examples", 0, 1);
  }
  kinds = prepare(args, std::move(kinds), out.question);
  for (const cluster::Profile& p : kinds) cluster::add_notes(p.notes, &out.notes);
  if (kinds.size() > 1)
    out.notes.push_back("workers are of " + std::to_string(kinds.size()) +
                        " kinds, in the order of the profiles: worker k is of kind k modulo " +
                        std::to_string(kinds.size()));
  const std::string policy = args.get("--policy").value_or("grpc");
  if (policy == "p3" && args.get("--order").value_or("traced") != "layer")
    out.notes.push_back(
        "policy p3 sends by priority, and only --order layer gives one: without it, it is grpc");
  if (cluster::is_unvalidated(policy))
    out.notes.push_back("policy " + policy + " is not validated by measurements");
  out.examples = kinds[0].examples;
  parse_deadline(args, &out);
  return kinds;
}

int predict(const Args& args) {
  if (args.positional().empty()) throw UsageError{"a profile is needed: a file or a folder"};
  Prediction out;
  const auto kinds = before_work([&] { return read_call(args, &out); });
  out.question.feed = parse_feed(args, &out.notes);
  if (args.has("--corrections")) {
    before_work([&] { print_corrections(kinds, out.question); });
    return 0;
  }
  // Only preparation can fail: it refuses sizes and modes that do not fit together.
  const cluster::Placed placed = before_work([&] { return place_all(args, kinds, &out); });
  before_work([&] { add_points(args, placed, &out); });
  const std::optional<std::string> late = cluster::step_time_note(out.points, out.question);
  if (late) out.notes.push_back(*late);
  write_files(args, placed.back(), out);
  if (args.has("--json")) {
    print_json(prediction_json(out));
  } else {
    print_advice(out, late);
  }
  return 0;
}

}  // namespace

Command predict_command() {
  Command out{
      "predict",
      "PROFILE... [flags]",
      "predict training throughput for each size of a cluster",
      "Simulates training from one worker's profile: steps per second with a 90 % interval for a "
      "run of 40 steps per worker, the limiting resource, the size above which more workers do not "
      "pay, and the best size. "
      "PROFILE is a file or a folder of TensorFlow RunMetadata, a Kineto or Chakra trace of "
      "PyTorch DDP (then synchronous training is replayed), or Penstock's own JSON "
      "(docs/format/profile.md); "
      "several profiles are several kinds of workers. docs/cluster-model.md derives the model.",
      {{"--workers", "LIST", "numbers of workers, such as 1,2,4 or 1..16 (1..8)"},
       {"--servers", "LIST", "numbers of servers (as recorded)"},
       {"--placement", "RULE",
        "placement of variables on another number of servers: greedy, round-robin or optimised "
        "(greedy)"},
       {"--bandwidth", "RATE", "nominal rate of a server's link, each way: 1Gbit, 100MB/s"},
       {"--worker-bandwidth", "RATE", "the same of a worker's link (no limit)"},
       {"--network", "NET.json", "rates and constants (docs/format/net.md)"},
       {"--policy", "NAME",
        "sharing of links: grpc, paper, fifo, maxmin, rtt, alpha-fair, http2, chttp2, "
        "grpc-window, "
        "processor-sharing, p3, one-worker-at-a-time, rdma or mpi (grpc)"},
       {"--order", "NAME",
        "order of transfers: traced, reverse, random, tic, tac, sequential or layer (traced)"},
       {"-o", "ORDER.json", "write the order, for a trainer to enforce (docs/format/order.md)"},
       {"--mode", "NAME",
        "async, sync (servers with a barrier) or allreduce (as recorded); the steps of the "
        "latter two are steps of all workers"},
       {"--backup", "N", "sync: workers whose gradients a step does not wait for (0)"},
       {"--all-reduce", "SHAPE", "ring or tree (ring)"},
       {"--model", "NAME",
        "event, or a formula for comparison: lin, cynthia, ideal, optimus (event)"},
       {"--measured", "RUNS.json",
        "measured runs, to compare with and to fit optimus to (docs/format/predict.md)"},
       {"--batch-scale", "X", "a batch X times as large: computing grows, transfers stay"},
       {"--step-time", "TIME",
        "step time of one worker, measured without profiling: corrects all-reduce and one worker; "
        "many workers of parameter servers hardly"},
       {"--examples", "N",
        "examples of a recorded step, for examples/s (as the profile says); "
        "--batch-scale multiplies them"},
       {"--prices", "FILE", "prices of hosts (docs/format/predict.md)"},
       {"--budget", "PRICE", "most to pay per hour"},
       {"--train", "N",
        "examples to train: the cheapest size that does it in the time of --within"},
       {"--within", "TIME", "time for them: 90min, 12h"},
       {"--corrections", "",
        "instead of the table: the paper's rule with and without each correction of the default"},
       {"--steps", "N",
        "steps simulated by each worker in each replication (120, the first 20 dropped; policy "
        "paper and --corrections: 1000, the first 50 dropped)"},
       {"--replications", "N",
        "simulations with other starts (from 4 to 16, until the mean is known to a tenth of the "
        "interval)"},
       {"--seed", "N", "seed of the random draws (1)"},
       {"--threads", "N", "threads for simulating (all of the machine)"},
       {"--html", "FILE", "a page with the curve, the table and the advice"},
       {"--perfetto", "FILE", "timeline of the first steps of the last size, for Perfetto"},
       {"--json", "", "one JSON object (docs/format/predict.md)"}},
      predict};
  const std::vector<Flag> feed = feed_flags();
  const auto prices = std::ranges::find(out.flags, "--prices", &Flag::name);
  out.flags.insert(prices, feed.begin(), feed.end());
  return out;
}

}  // namespace penstock::cli
