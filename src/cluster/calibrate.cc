// Every fit here minimises an error that a user can check: rates of measured flows, or end times of
// recorded transfers (the paper's Table 1). Fit and test use different steps, so the printed error
// is not that of the fit.
//
// The order of the fits matters. First the window, because it changes the order in which bytes are
// sent and hence all end times. Then the burst and the wait before use together: a burst makes
// transfers shorter, a wait makes them longer, and fitted one after the other the first would
// absorb the effect of the second. Last the gap between steps, the remainder that the replay does
// not explain.
//
// The searches are grids, not gradients: the error of a replayed step is not smooth in these
// constants, because an op that starts a little later may lose its turn on a link.
#include "cluster/calibrate.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json_mistake.h"
#include "cluster/recorded_window.h"
#include "cluster/sharing.h"
#include "cluster/simulator.h"

namespace penstock::cluster {
namespace {

using Json = nlohmann::ordered_json;

constexpr int32_t kMostHosts = 1000;
constexpr size_t kMostFlows = 10'000;
constexpr int kRounds = 4000;
constexpr double kSameRates = 0.01;
constexpr double kBursts[] = {0, 16384, 32768, 65536, 131072, 262144};

int32_t read_host(const Json& flow, const char* key, const std::string& where) {
  const auto it = flow.find(key);
  if (it == flow.end() || !it->is_number_integer() || *it < 0 || *it >= kMostHosts)
    throw Error(Code::invalid_argument, where + key + " must be a number from 0 to 999");
  return it->get<int32_t>();
}

double error_of(const Pattern& pattern, const std::vector<double>& rates) {
  double sum = 0;
  for (size_t i = 0; i < rates.size(); ++i)
    sum += std::fabs(rates[i] / pattern.flows[i].rate - 1) / static_cast<double>(rates.size());
  return sum;
}

// Replays the step alone in the recorded order; the outcome's spans hold its transfers.
Outcome replay_step(Step step, const Rig& rig, int32_t servers) {
  for (Op& op : step.ops) {
    if (op.priority < 0)
      op.priority = std::max(0.0, is_transfer(op.resource) ? op.end_s : op.start_s);
  }
  Rig alone = rig;
  alone.stagger_s = 0;
  Run run{1, servers, 1, 1};
  run.record = true;
  return simulate({plan_step(step, alone)}, alone, run);
}

// Splits the steps alternately into a profile to fit and one to test. A single step serves both.
std::pair<Profile, Profile> halves(const Profile& profile) {
  std::pair<Profile, Profile> out{profile, profile};
  if (profile.steps.size() < 2) return out;
  out.first.steps.clear();
  out.second.steps.clear();
  for (size_t i = 0; i < profile.steps.size(); ++i)
    (i % 2 == 0 ? out.first : out.second).steps.push_back(profile.steps[i]);
  return out;
}

}  // namespace

Pattern read_pattern(const std::string& file, std::string_view json) {
  const std::string who = "calibrate: " + file + ": ";
  const Json parsed = Json::parse(json, nullptr, false);
  if (parsed.is_discarded())
    throw Error(Code::data_loss, who + "it is no JSON" + json_mistake(json));
  if (!parsed.is_object() || !parsed.contains("flows") || !parsed["flows"].is_array() ||
      parsed["flows"].empty() || parsed["flows"].size() > kMostFlows)
    throw Error(Code::invalid_argument, who + "flows is a list of 1 to 10000 flows");
  Pattern out;
  for (const Json& f : parsed["flows"]) {
    const std::string where = who + "flow " + std::to_string(out.flows.size()) + ": ";
    if (!f.is_object() || !f.contains("rate") || !f["rate"].is_string())
      throw Error(Code::invalid_argument, where + "rate must be a text such as \"72Mbit\"");
    const int32_t server = read_host(f, "server", where), worker = read_host(f, "worker", where);
    try {
      out.flows.push_back({server, worker, parse_rate(f["rate"].get<std::string>())});
    } catch (const Error& e) {
      throw Error(e.code(), where + e.message());
    }
  }
  return out;
}

std::vector<double> alpha_fair(const Pattern& pattern, double rate, double alpha) {
  int32_t servers = 0, workers = 0;
  for (const auto& f : pattern.flows) {
    servers = std::max(servers, f.server + 1);
    workers = std::max(workers, f.worker + 1);
  }
  std::vector<SharedFlow> shared;
  for (const auto& f : pattern.flows)
    shared.push_back({static_cast<size_t>(f.server), static_cast<size_t>(servers + f.worker)});
  std::vector<double> prices, out;
  const std::vector<double> capacity(static_cast<size_t>(servers + workers), rate);
  share_alpha_fair(capacity, alpha, kRounds, &prices, &shared);
  for (const SharedFlow& f : shared) out.push_back(f.rate);
  return out;
}

PatternFit fit_pattern(const Pattern& pattern) {
  std::map<int32_t, double> sent, received;
  PatternFit out;
  for (const auto& f : pattern.flows) {
    out.rate = std::max(out.rate, sent[f.server] += f.rate);
    out.rate = std::max(out.rate, received[f.worker] += f.rate);
  }
  out.error = std::numeric_limits<double>::infinity();
  for (double alpha = 0.1; alpha <= 10.01; alpha *= std::pow(100.0, 1 / 40.0)) {
    const double error = error_of(pattern, alpha_fair(pattern, out.rate, alpha));
    if (error >= out.error) continue;
    out.error = error;
    out.alpha = alpha;
  }
  const auto least = alpha_fair(pattern, out.rate, 0.1), most = alpha_fair(pattern, out.rate, 10);
  out.determined = false;
  for (size_t i = 0; i < least.size(); ++i)
    out.determined |= std::fabs(least[i] - most[i]) > kSameRates * out.rate;
  return out;
}

void check_fits(const Profile& profile) {
  const std::string who = "calibrate: " + profile.source + ": ";
  if (has_collectives(profile)) {
    throw Error(Code::invalid_argument,
                who + "synchronous training without servers: there is nothing to fit, its "
                      "constants are fixed; give predict --bandwidth, and --step-time with a step "
                      "measured without profiling");
  }
  for (const Step& step : profile.steps) {
    for (const Op& op : step.ops)
      if (is_transfer(op.resource) && op.end_s > 0) return;
  }
  throw Error(Code::invalid_argument,
              who + "no transfer with a recorded end: there is nothing to fit");
}

OverheadFit fit_overhead(const Profile& profile, double rate) {
  double n = 0, sum_x = 0, sum_y = 0, sum_xx = 0, sum_xy = 0;
  for (const Step& step : profile.steps) {
    std::map<std::pair<Resource, int32_t>, std::vector<const Op*>> links;
    for (const Op& op : step.ops)
      if (is_transfer(op.resource) && op.start_s >= 0)
        links[{op.resource, op.server}].push_back(&op);
    for (auto& [link, ops] : links) {
      std::ranges::stable_sort(ops, {}, &Op::start_s);
      double busy_s = 0;
      for (size_t i = 0; i < ops.size(); ++i) {
        const bool alone = ops[i]->start_s >= busy_s &&
                           (i + 1 == ops.size() || ops[i + 1]->start_s >= ops[i]->end_s);
        busy_s = std::max(busy_s, ops[i]->end_s);
        if (!alone) continue;
        const auto x = static_cast<double>(ops[i]->bytes);
        const double y = ops[i]->end_s - ops[i]->start_s - x / rate;
        n += 1;
        sum_x += x;
        sum_y += y;
        sum_xx += x * x;
        sum_xy += x * y;
      }
    }
  }
  OverheadFit out;
  out.transfers = static_cast<int64_t>(n);
  if (n < 1) return out;
  const double spread = n * sum_xx - sum_x * sum_x;
  // All sizes are equal: the slope is undetermined.
  const double slope = spread > 1e-9 * n * sum_xx ? (n * sum_xy - sum_x * sum_y) / spread : 0;
  out.seconds_per_byte = std::max(0.0, slope);
  out.seconds = std::max(0.0, (sum_y - out.seconds_per_byte * sum_x) / n);
  return out;
}

EndTimeError end_time_error(const Profile& profile, const Rig& rig) {
  std::vector<double> errors;
  for (const Step& step : profile.steps) {
    for (const Span& s : replay_step(step, rig, profile.servers).spans) {
      if (s.kind != PlannedOp::Kind::transfer) continue;
      const double recorded_s = step.ops[static_cast<size_t>(s.source)].end_s;
      if (recorded_s <= 0) continue;
      const double end_s = s.end_s + rig.receive_s + rig.receive_s_per_byte * s.amount;
      errors.push_back(std::fabs(end_s - recorded_s) / recorded_s);
    }
  }
  EndTimeError out;
  out.transfers = static_cast<int64_t>(errors.size());
  if (errors.empty()) return out;
  std::ranges::sort(errors);
  for (const double e : errors) out.mean += e / static_cast<double>(errors.size());
  out.median = errors[errors.size() / 2];
  out.p95 = errors[std::min(errors.size() - 1, errors.size() * 95 / 100)];
  out.most = errors.back();
  return out;
}

WindowFit fit_window(const Profile& profile, const Rig& rig) {
  const auto [fitted, judged] = halves(profile);
  const Windows windows = find_windows(fitted, rig.server_rate);
  const bool seen = windows.down_bytes > 0 || windows.up_bytes > 0;
  const Profile sent = split_at_windows(fitted, windows, rig.server_rate);
  WindowFit out;
  out.rig = rig;
  out.rig.burst_bytes = 0;
  double least = end_time_error(sent, out.rig).mean;
  const auto attempt = [&](const Rig& tried) {
    const double mean = end_time_error(sent, tried).mean;
    if (mean >= least) return;
    least = mean;
    out.rig = tried;
  };
  // A burst makes transfers shorter, a wait before use makes them longer: fit both together.
  for (const double burst_bytes : kBursts) {
    Rig tried = out.rig;
    tried.burst_bytes = burst_bytes;
    attempt(tried);
    tried.receive_s = tried.receive_s_per_byte = 0;
    attempt(tried);
    for (tried.receive_s = 1e-4; tried.receive_s < 1e-2; tried.receive_s *= 1.2) attempt(tried);
  }
  Rig tried = out.rig;
  for (double bytes = 65536; bytes <= (64 << 20) && !seen; bytes *= 4) {
    tried.scheduler.first_bytes = bytes;
    attempt(tried);
  }
  out.found = seen || out.rig.scheduler.first_bytes != rig.scheduler.first_bytes;
  out.error = end_time_error(split_at_windows(judged, windows, rig.server_rate), out.rig);
  if (seen) {
    LinkScheduler& scheduler = out.rig.scheduler;
    scheduler.first_bytes = std::max(windows.down_bytes, windows.up_bytes);
    scheduler.then_bytes = scheduler.first_bytes + kWindowGrowth_bytes;
  }
  return out;
}

double fit_step_gap(const Profile& profile, const Rig& rig) {
  double beyond_s = 0;
  for (const Step& step : profile.steps) {
    const double recorded_s = std::ranges::max_element(step.ops, {}, &Op::end_s)->end_s;
    const Outcome replayed = replay_step(step, rig, profile.servers);
    beyond_s += recorded_s - replayed.step_ends_s[0][0];
  }
  return std::max(0.0, beyond_s / static_cast<double>(profile.steps.size()));
}

}  // namespace penstock::cluster
