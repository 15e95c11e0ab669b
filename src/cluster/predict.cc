#include "cluster/predict.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <mutex>
#include <numeric>
#include <thread>

#include "base/error.h"
#include "base/random.h"
#include "cluster/all_reduce.h"
#include "cluster/coarse.h"
#include "cluster/simulator.h"

namespace penstock::cluster {
namespace {

constexpr int32_t kMostWorkers = 10'000;
constexpr int32_t kBatchSteps = 40;
constexpr double kNormal90 = 1.645;
// What the model misses at a point, as a share of it: docs/cluster-model.md.
constexpr double kModelError = 0.055;

double mean(const std::vector<double>& v) {
  return v.empty() ? 0 : std::accumulate(v.begin(), v.end(), 0.0) / static_cast<double>(v.size());
}

double deviation(const std::vector<double>& v) {
  if (v.size() < 2) return 0;
  const double m = mean(v);
  double sum = 0;
  for (const double x : v) sum += (x - m) * (x - m);
  return std::sqrt(sum / static_cast<double>(v.size() - 1));
}

std::vector<StepPlan> plan_all(const Profile& profile, const Rig& rig) {
  std::vector<StepPlan> out;
  for (const Step& step : profile.steps) out.push_back(plan_step(step, rig));
  return out;
}

struct Replication {
  double throughput = 0;
  std::vector<double> batches;
  Point use;
};

Replication replicate(const std::vector<StepPlan>& plans, const Question& q, int32_t workers,
                      int32_t servers, int32_t index) {
  Run run{workers, servers, q.steps, mix(q.seed, static_cast<uint64_t>(index))};
  const Outcome o = simulate(plans, q.rig, run);
  Replication out;
  out.throughput = throughput(o, q.warm_up);
  out.batches = batch_throughputs(o, q.warm_up, kBatchSteps);
  for (size_t l = 0; l < o.link_bytes.size(); ++l) {
    double& use = l % 2 == 0 ? out.use.downlink_use : out.use.uplink_use;
    use = std::max(use, o.link_bytes[l] / (q.rig.server_rate * o.end_s));
  }
  const int32_t cores = std::max(1, q.rig.server_cores);
  out.use.server_use = *std::ranges::max_element(o.server_s) / (o.end_s * cores);
  out.use.worker_use = o.worker_s / (o.end_s * workers * q.rig.worker_lanes);
  return out;
}

void bind(Point* p) {
  const std::pair<double, const char*> uses[] = {{p->worker_use, "worker"},
                                                 {p->downlink_use, "downlink"},
                                                 {p->uplink_use, "uplink"},
                                                 {p->server_use, "server"}};
  p->binds = std::ranges::max_element(uses, {}, [](const auto& u) { return u.first; })->second;
}

Point summarise(const std::vector<Replication>& replications, int32_t workers, int32_t servers) {
  Point out;
  out.workers = workers;
  out.servers = servers;
  std::vector<double> rates, batches;
  const double share = 1.0 / static_cast<double>(replications.size());
  for (const Replication& r : replications) {
    rates.push_back(r.throughput);
    batches.insert(batches.end(), r.batches.begin(), r.batches.end());
    out.worker_use += r.use.worker_use * share;
    out.downlink_use += r.use.downlink_use * share;
    out.uplink_use += r.use.uplink_use * share;
    out.server_use += r.use.server_use * share;
  }
  out.steps_per_s = mean(rates);
  const double half = kNormal90 * std::hypot(deviation(batches.size() > 1 ? batches : rates),
                                             kModelError * out.steps_per_s);
  out.low = std::max(0.0, out.steps_per_s - half);
  out.high = out.steps_per_s + half;
  bind(&out);
  return out;
}

// Runs task(0..count-1) on `threads` threads; the first exception is thrown on.
template <typename Task>
void run_all(size_t count, int32_t threads, const Task& task) {
  std::atomic<size_t> next{0};
  std::exception_ptr error;
  std::mutex mutex;
  const auto work = [&] {
    for (size_t i = next++; i < count; i = next++) {
      try {
        task(i);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!error) error = std::current_exception();
        next = count;
      }
    }
  };
  {
    std::vector<std::jthread> pool;
    for (int32_t t = 1; t < threads; ++t) pool.emplace_back(work);
    work();
  }
  if (error) std::rethrow_exception(error);
}

void check(const Question& q) {
  for (const int32_t w : q.workers) {
    if (w < 1 || w > kMostWorkers) {
      throw Error(Code::invalid_argument,
                  "predict: workers must be from 1 to 10000: " + std::to_string(w));
    }
  }
  if (q.warm_up >= q.steps - 1) {
    throw Error(Code::invalid_argument, "predict: warm-up must leave two steps of " +
                                            std::to_string(q.steps) + ": " +
                                            std::to_string(q.warm_up));
  }
}

// A gap, or where the replay is too slow already a factor on computing, that makes one simulated
// worker's step last `step_time_s`.
void fit_step_time(const Profile& profile, double step_time_s, Question* q) {
  q->rig.step_gap_s = q->rig.step_gap_transfer_s = 0;
  const std::vector<StepPlan> plans = plan_all(profile, q->rig);
  const double replay_s = 1 / replicate(plans, *q, 1, profile.servers, 0).throughput;
  if (replay_s <= step_time_s) {
    q->rig.step_gap_s = step_time_s - replay_s;
    return;
  }
  double worker_s = 0;
  for (const StepPlan& p : plans) worker_s += p.worker_s / static_cast<double>(plans.size());
  if (worker_s > 0) {
    q->rig.compute_factor *=
        std::max(0.0, 1 - (replay_s - step_time_s) * q->rig.worker_lanes / worker_s);
  }
}

}  // namespace

Model parse_model(const std::string& name) {
  if (name == "event") return Model::event;
  if (name == "lin") return Model::lin;
  if (name == "cynthia") return Model::cynthia;
  if (name == "ideal") return Model::ideal;
  throw Error(Code::invalid_argument,
              "predict: model must be event, lin, cynthia or ideal: " + name);
}

std::vector<Point> predict(const Profile& profile, const Question& question) {
  Question q = question;
  check(q);
  if (has_collectives(profile)) return all_reduce_points(profile, q);
  if (q.step_time_s > 0) fit_step_time(profile, q.step_time_s, &q);
  const std::vector<StepPlan> plans = plan_all(profile, q.rig);
  if (q.model != Model::event) {
    const double step_s = 1 / replicate(plans, q, 1, profile.servers, 0).throughput;
    return coarse_points(profile, q, step_s);
  }
  const auto reps = static_cast<size_t>(q.replications);
  std::vector<std::vector<Replication>> all(q.workers.size(), std::vector<Replication>(reps));
  run_all(q.workers.size() * reps, q.threads, [&](size_t i) {
    const size_t point = q.workers.size() - 1 - i / reps;  // long ones first
    all[point][i % reps] =
        replicate(plans, q, q.workers[point], profile.servers, static_cast<int32_t>(i % reps));
  });
  std::vector<Point> out;
  for (size_t p = 0; p < all.size(); ++p)
    out.push_back(summarise(all[p], q.workers[p], profile.servers));
  return out;
}

}  // namespace penstock::cluster
