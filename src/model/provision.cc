#include "model/provision.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "model/size.h"

namespace penstock {
namespace {

constexpr double kNoDifference = 0.02;  // of the CPU time
constexpr double kNone = std::numeric_limits<double>::infinity();

// Needs per element of the root, of one division of a part of the pipeline.
struct Division {
  double core_seconds = 0, disk_bytes = 0, cache_bytes = 0;
  double slowest_seconds = 0;  // of a stage of one thread
  int slowest = -1;
  std::vector<int> cached;

  // A difference of `slack` in CPU time does not count.
  bool beats(const Division& other, double slack) const {
    return core_seconds <= other.core_seconds + slack && disk_bytes <= other.disk_bytes &&
           cache_bytes <= other.cache_bytes && slowest_seconds <= other.slowest_seconds;
  }
};

Division sum(const Division& a, const Division& b) {
  Division out = a.slowest_seconds >= b.slowest_seconds ? a : b;
  out.core_seconds = a.core_seconds + b.core_seconds;
  out.disk_bytes = a.disk_bytes + b.disk_bytes;
  out.cache_bytes = a.cache_bytes + b.cache_bytes;
  out.cached = a.cached;
  out.cached.insert(out.cached.end(), b.cached.begin(), b.cached.end());
  return out;
}

std::vector<Division> undominated(std::vector<Division> all, double slack) {
  std::ranges::stable_sort(all, {}, &Division::cache_bytes);
  std::vector<Division> out;
  for (Division& d : all) {
    if (std::ranges::none_of(out, [&](const Division& o) { return o.beats(d, slack); }))
      out.push_back(std::move(d));
  }
  constexpr size_t kMost = 64;  // of pipelines with many branches the largest caches go first
  if (out.size() > kMost) out.resize(kMost);
  return out;
}

class Divider {
 public:
  explicit Divider(const Analysis& a) : a_(a), n_(counted(a)) {}

  // Every undominated division of the pipeline; the first has no cache.
  std::vector<Division> all() {
    std::vector<Division> out = of(0);
    // Work of no stage goes on whatever is cached.
    double most = 0;
    for (Division& d : out) {
      d.core_seconds += a_.unattributed_cpu_seconds / n_;
      most = std::max(most, d.core_seconds);
    }
    return undominated(std::move(out), kNoDifference * most);
  }

 private:
  static double counted(const Analysis& a) {
    return std::max(1.0, a.rate * a.trace.interval.seconds);
  }
  const StageModel& model(int id) const { return a_.stages[static_cast<size_t>(id)]; }
  const StageTrace& traced(int id) const { return a_.trace.stages[static_cast<size_t>(id)]; }

  // The stage with the pipelines that its functions make, without its inputs.
  Division own(int id) const {
    Division out;
    for (const StageModel& s : a_.stages) {
      int at = s.id;
      while (at != id && at >= 0) at = traced(at).parent;
      if (at != id) continue;
      out.core_seconds += s.demand_seconds;
      out.disk_bytes += static_cast<double>(traced(s.id).bytes_read) / n_;
      if (s.sequential && s.demand_seconds > out.slowest_seconds) {
        out.slowest_seconds = s.demand_seconds;
        out.slowest = s.id;
      }
    }
    return out;
  }

  bool may_cache(int id) const {
    const CacheVerdict verdict = model(id).cache;
    if (verdict != CacheVerdict::yes && verdict != CacheVerdict::too_large) return false;
    const StageTrace& s = traced(id);
    // After these a cache holds what their input gives as well.
    if (s.reads_ahead || s.repeats) return false;
    // A source that reads nothing (a range) is as cheap as its cache.
    return !s.inputs.empty() || own(id).disk_bytes > 0;
  }

  std::vector<Division> of(int id) const {
    std::vector<Division> out{own(id)};
    for (const int input : traced(id).inputs) {
      std::vector<Division> joined;
      for (const Division& below : of(input))
        for (const Division& d : out) joined.push_back(sum(d, below));
      out = undominated(std::move(joined), 0);
    }
    if (may_cache(id)) {
      Division cached;
      cached.cache_bytes = model(id).size.bytes.value;
      cached.cached = {id};
      out.push_back(std::move(cached));
      out = undominated(std::move(out), 0);
    }
    return out;
  }

  const Analysis& a_;
  const double n_;
};

// Cores beyond those of the trace have buffers of their own.
double working_memory(const Analysis& a, double cores) {
  const double traced_cores = std::max(1, a.trace.options.threads);
  return static_cast<double>(a.trace.peak_memory_bytes) * std::max(1.0, cores / traced_cores);
}

ProvisionOption option_of(const Analysis& a, const Division& d, double rate) {
  ProvisionOption out;
  out.cached = d.cached;
  std::ranges::sort(out.cached);
  out.cache_bytes = d.cache_bytes;
  out.needs.cores = rate * d.core_seconds;
  out.needs.disk_bytes_per_second = rate * d.disk_bytes;
  out.needs.memory_bytes = working_memory(a, out.needs.cores) + d.cache_bytes;
  out.most_rate = d.slowest_seconds > 0 ? 1 / d.slowest_seconds : kNone;
  out.slowest = d.slowest;
  std::vector<bool> computed(a.stages.size(), true);
  for (const int cached : out.cached)
    for (const int below : closure(a.trace, cached)) computed[static_cast<size_t>(below)] = false;
  out.cores = with_spread(out.needs.cores, cpu_spread(a, computed));
  return out;
}

}  // namespace

bool Machine::has(const Needs& needs) const {
  return needs.cores <= cores && needs.disk_bytes_per_second <= disk_bytes_per_second &&
         needs.memory_bytes <= memory_bytes;
}

Provision provision(const Analysis& analysis, double rate) {
  PENSTOCK_CHECK(rate > 0);
  Provision out;
  out.rate = rate;
  double uncached_cores = 0;
  for (const Division& d : Divider(analysis).all()) {
    ProvisionOption option = option_of(analysis, d, rate);
    if (option.cached.empty()) {
      out.uncached = option;
      out.per_element = {d.core_seconds, d.disk_bytes, 0};
      uncached_cores = option.needs.cores;
    }
    if (option.most_rate < rate) continue;
    // Among those that reach the rate it does not matter how much more their slowest stage gives.
    const auto beats = [&](const ProvisionOption& o) {
      return o.needs.cores <= option.needs.cores + kNoDifference * uncached_cores &&
             o.needs.disk_bytes_per_second <= option.needs.disk_bytes_per_second;
    };
    if (std::ranges::none_of(out.options, beats)) out.options.push_back(std::move(option));
  }
  return out;
}

Reachable reachable_rate(const Analysis& analysis, const Machine& machine) {
  using Binds = Reachable::Binds;
  Reachable best;
  best.binds = Binds::memory;
  for (const Division& d : Divider(analysis).all()) {
    if (working_memory(analysis, 0) + d.cache_bytes > machine.memory_bytes) continue;
    Reachable one{kNone, Binds::nothing, -1};
    const auto bound = [&](double rate, Binds binds, int stage) {
      if (rate < one.rate) one = {rate, binds, stage};
    };
    if (d.core_seconds > 0) bound(machine.cores / d.core_seconds, Binds::cores, -1);
    if (d.disk_bytes > 0) bound(machine.disk_bytes_per_second / d.disk_bytes, Binds::disk, -1);
    if (d.slowest_seconds > 0) bound(1 / d.slowest_seconds, Binds::stage, d.slowest);
    if (one.rate > best.rate) best = one;
  }
  return best;
}

}  // namespace penstock
