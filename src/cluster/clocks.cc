#include "cluster/clocks.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <string>

namespace penstock::cluster {
namespace {

constexpr int32_t kWorker = -1;

struct Times {
  double first_s = INFINITY, last_s = 0;
  double length_s() const { return last_s - first_s; }
};

// Returns the host that recorded the op: a transfer is recorded by its receiver.
int32_t recorder(const Op& op) {
  return op.resource == Resource::server || op.resource == Resource::uplink ? op.server : kWorker;
}

// Returns the time to add to the server's times; 0: its clock agrees with the worker's.
double shift_s(const Times& worker, const Times& server) {
  const double apart_s = std::max(server.first_s - worker.last_s, worker.first_s - server.last_s);
  const bool off = apart_s > std::max(worker.length_s(), server.length_s()) / 2 && apart_s > 0;
  return off ? worker.first_s - server.first_s : 0;
}

void move(double by_s, Op* op) {
  op->start_s = std::max(0.0, op->start_s + by_s);
  op->end_s = std::max(op->start_s, op->end_s + by_s);
}

// Returns the shift of each server whose clock is off in this step.
std::map<int32_t, double> align(Step* step) {
  std::map<int32_t, Times> times;
  for (const Op& op : step->ops) {
    if (op.start_s < 0 || op.resource == Resource::none) continue;
    Times& t = times[recorder(op)];
    t.first_s = std::min(t.first_s, op.start_s);
    t.last_s = std::max(t.last_s, op.end_s);
  }
  std::map<int32_t, double> out;
  const auto worker = times.find(kWorker);
  if (worker == times.end()) return out;
  for (const auto& [server, t] : times) {
    if (const double s = shift_s(worker->second, t); server != kWorker && s != 0) out[server] = s;
  }
  if (out.empty()) return out;
  double first_s = INFINITY;
  for (const auto& [who, t] : times)
    first_s = std::min(first_s, t.first_s + (out.contains(who) ? out.at(who) : 0));
  for (Op& op : step->ops) {
    if (op.start_s < 0 || op.resource == Resource::none) continue;
    const auto it = out.find(recorder(op));
    move((it == out.end() ? 0 : it->second) - first_s, &op);
  }
  return out;
}

}  // namespace

void align_clocks(Profile* profile) {
  struct Off {
    int64_t steps = 0;
    double most_s = 0;
  };
  std::map<int32_t, Off> all;
  for (Step& step : profile->steps) {
    for (const auto& [server, by_s] : align(&step)) {
      Off& o = all[server];
      ++o.steps;
      if (std::fabs(by_s) > std::fabs(o.most_s)) o.most_s = -by_s;
    }
  }
  for (const auto& [server, off] : all) {
    char seconds[32];
    std::snprintf(seconds, sizeof seconds, "%+.3g", off.most_s);
    profile->notes.push_back("the clock of server " + std::to_string(server) + " is off by " +
                             seconds + " s in " + std::to_string(off.steps) + " of " +
                             std::to_string(profile->steps.size()) +
                             " steps: its records are taken to begin with the worker's");
  }
}

}  // namespace penstock::cluster
