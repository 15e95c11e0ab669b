// A prediction runs in three layers. plan_steps() turns profiled steps into plans once. Then each
// (point, replication) is one simulation, independent of all others and seeded by its index, so
// results do not depend on the number of threads. Points deals simulations to threads and reports
// finished points in order.
//
// The number of replications adapts: a point gets a few at a time until the uncertainty of its mean
// is a small share (Question::enough) of the interval that is reported anyway. Only the draws
// decide that, never the timing, so the answer is reproducible. A thread may have to wait in
// next(): whether another replication is needed is known only after the running ones end.
//
// fit_step_time() calibrates first: it simulates one worker and sets the gap between steps so that
// the step lasts as long as measured. If the replay is too slow already, a gap cannot help, and it
// scales computing instead.
#include "cluster/predict.h"

#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <mutex>
#include <numeric>
#include <optional>
#include <thread>

#include "base/error.h"
#include "base/random.h"
#include "base/start_thread.h"
#include "cluster/all_reduce.h"
#include "cluster/coarse.h"
#include "cluster/simulator.h"
#include "cluster/throughput.h"

namespace penstock::cluster {
namespace {

constexpr int32_t kMostWorkers = 10'000;
constexpr int32_t kBatchSteps = 40;
constexpr double kNormal90 = 1.645;
constexpr double kMostlyStarved = 0.5, kAlwaysStarved = 0.99;

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

using Plans = std::vector<std::vector<StepPlan>>;  // by kind of worker

Plans plan_all(const std::vector<Profile>& kinds, const Rig& rig) {
  Plans out;
  for (const Profile& p : kinds) out.push_back(plan_steps(p, rig));
  return out;
}

struct Replication {
  double throughput = 0;
  std::vector<double> batches;
  Point use;
  double gap_share = 0;  // share of time that workers rest between steps
  double unfed = 0;      // throughput with input that never waits
};

Replication replicate(const Plans& plans, const Question& q, int32_t workers, int32_t servers,
                      int32_t index) {
  Run run{workers, servers, q.steps, mix(q.seed, static_cast<uint64_t>(index))};
  run.barrier = q.mode == Mode::sync;
  run.backups = q.backups;
  run.feed = q.feed;
  const Outcome o = simulate_kinds(plans, q.rig, run);
  Replication out;
  out.throughput = out.unfed = throughput(o, q.warm_up);
  out.use.starved = o.starved;
  if (o.starved > 0) {
    run.feed = {};
    out.unfed = throughput(simulate_kinds(plans, q.rig, run), q.warm_up);
  }
  out.batches = batch_throughputs(o, q.warm_up, kBatchSteps);
  for (size_t l = 0; l < o.link_bytes.size(); ++l) {
    double& use = l % 2 == 0 ? out.use.downlink_use : out.use.uplink_use;
    use = std::max(use, o.link_bytes[l] / (q.rig.server_rate * o.end_s));
  }
  const int32_t cores = std::max(1, q.rig.server_cores);
  out.use.server_use = *std::ranges::max_element(o.server_s) / (o.end_s * cores);
  out.use.worker_use = o.worker_s / (o.end_s * workers * q.rig.worker_lanes);
  if (q.rig.worker_rate > 0) {
    double bytes[2] = {};
    for (size_t l = 0; l < o.link_bytes.size(); ++l) bytes[l % 2] += o.link_bytes[l];
    out.use.worker_link_use =
        std::max(bytes[0], bytes[1]) / (q.rig.worker_rate * workers * o.end_s);
  }
  out.gap_share = q.rig.step_gap_s * out.throughput / (run.barrier ? 1 : workers);
  return out;
}

// Treats work between steps as computing when it names the resource that binds.
void bind(double gap_share, Point* p) {
  const std::pair<double, const char*> uses[] = {{p->worker_use + gap_share, "worker"},
                                                 {p->worker_link_use, "worker link"},
                                                 {p->downlink_use, "downlink"},
                                                 {p->uplink_use, "uplink"},
                                                 {p->server_use, "server"}};
  p->binds = std::ranges::max_element(uses, {}, [](const auto& u) { return u.first; })->second;
}

Point summarise(const std::vector<Replication>& replications, double model_error, int32_t workers,
                int32_t servers) {
  Point out;
  out.workers = workers;
  out.servers = servers;
  std::vector<double> rates, batches;
  double gap_share = 0;
  const double share = 1.0 / static_cast<double>(replications.size());
  for (const Replication& r : replications) {
    rates.push_back(r.throughput);
    batches.insert(batches.end(), r.batches.begin(), r.batches.end());
    out.worker_use += r.use.worker_use * share;
    out.downlink_use += r.use.downlink_use * share;
    out.uplink_use += r.use.uplink_use * share;
    out.server_use += r.use.server_use * share;
    out.worker_link_use += r.use.worker_link_use * share;
    out.starved += r.use.starved * share;
    out.unfed_steps_per_s += r.unfed * share;
    gap_share += r.gap_share * share;
  }
  out.steps_per_s = mean(rates);
  // A step that waits for its input takes as long as the feed says, however wrong the model is.
  const double error = model_error * (1 - out.starved);
  const double half = kNormal90 * std::hypot(deviation(batches.size() > 1 ? batches : rates),
                                             error * out.steps_per_s);
  out.low = std::max(0.0, out.steps_per_s - half);
  out.high = out.steps_per_s + half;
  bind(gap_share, &out);
  return out;
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

// Returns steps/s of one worker alone.
double alone(const Plans& plans, const Question& question, int32_t servers) {
  Question q = question;
  q.backups = 0;
  q.feed = {};
  return replicate(plans, q, 1, servers, 0).throughput;
}

// Sets batches per step and the use of the input pipelines.
void complete(const Question& q, Point* p) {
  if (q.mode != Mode::async) p->batches = p->workers - q.backups;
  if (p->unfed_steps_per_s == 0) p->unfed_steps_per_s = p->steps_per_s;
  if (q.feed.rate <= 0) return;
  const double most = q.feed.rate * (q.mode == Mode::async ? p->workers : 1);
  if (q.model != Model::event) {  // a formula: the lesser of both
    p->starved = p->steps_per_s >= most ? 1 : 0;
    for (double* rate : {&p->steps_per_s, &p->low, &p->high}) *rate = std::min(*rate, most);
  }
  p->feed_use = std::min(1.0, p->steps_per_s / most);
  if (p->starved > kMostlyStarved) p->binds = "feed";
  // The rate that was given, without a doubt of the model's.
  if (q.feed.spread == 0 && p->starved > kAlwaysStarved) p->steps_per_s = p->low = p->high = most;
}

void check_kinds(const std::vector<Profile>& kinds, const Question& q) {
  const auto bad = [](const std::string& what) {
    throw Error(Code::invalid_argument, "predict: " + what);
  };
  for (const Profile& p : kinds) {
    if (p.servers != kinds[0].servers)
      bad(p.source + " has " + std::to_string(p.servers) + " servers, " + kinds[0].source +
          " has " + std::to_string(kinds[0].servers) + ": kinds of workers share the servers");
    if (has_collectives(p) && q.mode != Mode::all_reduce)
      bad(p.source + " was recorded without servers: its mode is allreduce");
  }
  if (kinds.size() > 1 && q.mode == Mode::all_reduce)
    bad("ranks of several kinds do not go with allreduce: give one profile");
  if (kinds.size() > 1 && q.step_time_s > 0) bad("a step time goes with one profile only");
  if (kinds.size() > 1 && q.model != Model::event)
    bad("formulas know one kind of workers: give one profile");
  if (q.mode != Mode::async && q.model != Model::event)
    bad("the formulas are of asynchronous training");
}

// Sets a gap, or if the replay is too slow already a factor on computing, so that one simulated
// worker's step lasts `step_time_s`.
void fit_step_time(const std::vector<Profile>& kinds, double step_time_s, Question* q) {
  q->rig.step_gap_s = q->rig.step_gap_transfer_s = 0;
  const Plans plans = plan_all(kinds, q->rig);
  const double replay_s = 1 / alone(plans, *q, kinds[0].servers);
  if (replay_s <= step_time_s) {
    q->rig.step_gap_s = step_time_s - replay_s;
    return;
  }
  double worker_s = 0;
  for (const StepPlan& p : plans[0]) worker_s += p.worker_s / static_cast<double>(plans[0].size());
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
  if (name == "optimus") return Model::optimus;
  throw Error(Code::invalid_argument,
              "predict: model must be event, lin, cynthia, ideal or optimus: " + name);
}

Mode parse_mode(const std::string& name) {
  if (name == "async") return Mode::async;
  if (name == "sync") return Mode::sync;
  if (name == "allreduce") return Mode::all_reduce;
  throw Error(Code::invalid_argument, "predict: mode must be async, sync or allreduce: " + name);
}

std::vector<StepPlan> plan_steps(const Profile& profile, const Rig& rig) {
  std::vector<StepPlan> out;
  for (const Step& step : profile.steps) out.push_back(plan_step(step, rig));
  return out;
}

namespace {

struct Task {
  size_t point = 0;
  int32_t index = 0;  // index of the replication
};

// Returns half the width of the 90 % interval of the mean, with a bound on Student's t.
double uncertainty(const std::vector<Replication>& replications) {
  std::vector<double> rates;
  for (const Replication& r : replications) rates.push_back(r.throughput);
  const auto n = static_cast<double>(rates.size());
  return n < 2 ? HUGE_VAL : (kNormal90 + 2.12 / (n - 1)) * deviation(rates) / std::sqrt(n);
}

// Deals replications to threads, a few for each point at a time until the point has enough. Reports
// a point when it and all points before it are complete.
class Points {
 public:
  Points(const Question& q, int32_t servers, const Watch& watch)
      : q_(q), servers_(servers), watch_(watch), points_(q.workers.size()) {
    for (Pending& p : points_) p.replications.resize(more(0));
  }

  // Returns the next task, or nothing if all are done. Waits while a point may still need more.
  std::optional<Task> next() {
    std::unique_lock lock(mutex_);
    for (;;) {
      if (error_ || out_.size() == points_.size()) return std::nullopt;
      for (size_t p = out_.size(); p < points_.size(); ++p) {
        Pending& pending = points_[p];
        if (pending.begun < pending.replications.size())
          return Task{p, static_cast<int32_t>(pending.begun++)};
      }
      changed_.wait(lock);
    }
  }

  void add(const Task& task, Replication replication) {
    const std::lock_guard lock(mutex_);
    Pending& p = points_[task.point];
    p.replications[static_cast<size_t>(task.index)] = std::move(replication);
    if (++p.done == p.replications.size()) {
      const size_t size = more(p.done);
      const Point so_far = summarised(task.point);
      p.whole = size == p.done ||
                uncertainty(p.replications) <= q_.enough * (so_far.high - so_far.steps_per_s);
      if (!p.whole) p.replications.resize(size);
    }
    tell();
    changed_.notify_all();
  }

  void fail(std::exception_ptr error) {
    const std::lock_guard lock(mutex_);
    if (!error_) error_ = std::move(error);
    changed_.notify_all();
  }

  std::vector<Point> take() {
    if (error_) std::rethrow_exception(error_);
    return std::move(out_);
  }

 private:
  struct Pending {
    std::vector<Replication> replications;
    size_t begun = 0, done = 0;
    bool whole = false;
  };

  // Returns how many replications to add after `n`.
  size_t more(size_t n) const {
    constexpr size_t kAtOnce = 4;
    const auto most = static_cast<size_t>(q_.replications);
    return q_.enough > 0 ? std::min(most, n + kAtOnce) : most;
  }

  Point summarised(size_t point) const {
    return summarise(points_[point].replications, q_.rig.model_error, q_.workers[point], servers_);
  }

  void tell() {
    size_t done = 0, whole = 0;
    for (const Pending& p : points_) {
      done += p.done;
      whole += p.replications.size();
    }
    if (watch_.simulation) watch_.simulation(done, whole);
    for (; out_.size() < points_.size() && points_[out_.size()].whole;) {
      out_.push_back(summarised(out_.size()));
      complete(q_, &out_.back());
      if (watch_.point) watch_.point(out_.back());
    }
  }

  const Question& q_;
  const int32_t servers_;
  const Watch& watch_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Pending> points_;
  std::vector<Point> out_;
  std::exception_ptr error_;
};

std::vector<Point> without_simulation(std::vector<Point> points, const Question& q,
                                      const Watch& watch) {
  for (Point& p : points) {
    complete(q, &p);
    if (watch.point) watch.point(p);
  }
  return points;
}

std::vector<Point> joint_points(const Profile& profile, const Question& q, const Watch& watch) {
  size_t done = 0;
  return all_reduce_points(profile, q, [&](Point* p) {
    complete(q, p);
    if (watch.simulation) watch.simulation(++done, q.workers.size());
    if (watch.point) watch.point(*p);
  });
}

}  // namespace

std::vector<Point> predict(const std::vector<Profile>& kinds, const Question& question,
                           const Watch& watch) {
  check(question);
  check_kinds(kinds, question);
  Question q = question;
  if (q.mode == Mode::all_reduce) return joint_points(kinds[0], q, watch);
  if (q.step_time_s > 0) fit_step_time(kinds, q.step_time_s, &q);
  const Plans plans = plan_all(kinds, q.rig);
  const int32_t servers = kinds[0].servers;
  if (q.model != Model::event) {
    return without_simulation(coarse_points(kinds[0], q, 1 / alone(plans, q, servers)), q, watch);
  }
  Points points(q, servers, watch);
  const auto work = [&] {
    try {
      while (const auto task = points.next()) {
        points.add(*task, replicate(plans, q, q.workers[task->point], servers, task->index));
      }
    } catch (...) {
      points.fail(std::current_exception());
    }
  };
  {
    std::vector<std::jthread> pool;
    for (int32_t t = 1; t < q.threads; ++t) {
      if (!start_thread(&pool.emplace_back(), work))
        break;  // continue with the threads that did start
    }
    work();
  }
  return points.take();
}

}  // namespace penstock::cluster
