// The model is operational analysis: it uses only measured counts and times of one run, and assumes
// that demands per element stay the same at other rates. It has no distributions, so it predicts
// limits, not waiting times.
//
// Everything is expressed per element of the root, through visit ratios: below a batch(128) a map
// has a visit ratio of 128. Demands of different stages can then be added and compared.
//
// Stages share threads (trace/thread_groups.h), so a ceiling belongs to a group of stages, not to
// one stage: the group's width over the sum of its demands.
#include "model/model.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "model/lp.h"
#include "model/size.h"
#include "model/verdict.h"
#include "model/waits.h"

namespace penstock {
namespace {

constexpr double kCounterSeconds = 20e-9;  // counters of a block at a stage (bench/overhead)

// A fill shorter than this share of the run does not falsify its rates.
constexpr double kFillMatters = 0.05;
constexpr double kSteadySeconds = 0.2;  // the least that is enough for rates

// Returns true if enough of the run came after its fill.
bool is_fill_apart(const Trace& t) {
  return t.fill && t.fill->interval.seconds >= kFillMatters * t.interval.seconds &&
         t.interval.seconds - t.fill->interval.seconds >= kSteadySeconds &&
         t.interval.elements > t.fill->interval.elements;
}

double ratio(double a, double b) { return b > 0 ? a / b : 0; }

std::string counted(double n, const char* unit) {
  char text[64];
  std::snprintf(text, sizeof text, "%.3g %s%s", n, unit, n == 1 ? "" : "s");
  return text;
}

// Returns the elements by which the analysis counts: a sink's input stands for it.
double counted_elements(const Analysis& a, const SliceSums& sums) {
  const StageTrace& root = a.trace.stages.front();
  return root.sink && !root.inputs.empty()
             ? sums.stage_elements[static_cast<size_t>(root.inputs[0])]
             : sums.elements;
}

class Analyzer {
 public:
  Analyzer(const Trace& whole, const AnalyzeOptions& options) : options_(options), whole_(whole) {
    a_.trace = whole;
    if (is_fill_apart(whole)) {
      a_.trace = trace_difference(whole, *whole.fill);
      a_.fill_seconds = whole.fill->interval.seconds;
    }
    const Trace& trace = a_.trace;
    a_.cores = options.cores > 0 ? options.cores : std::max(1, trace.options.threads);
    a_.memory_bytes = options.memory_bytes > 0 ? options.memory_bytes : trace.options.memory_bytes;
    seconds_ = trace.interval.seconds;
    elements_ = static_cast<double>(trace.interval.elements);
    // A sink returns one value: count its input instead.
    if (elements_ <= 0 || trace.stages.front().sink) {
      const StageTrace& root = trace.stages.front();
      const size_t counted_stage =
          root.sink && !root.inputs.empty() ? static_cast<size_t>(root.inputs[0]) : 0;
      elements_ = static_cast<double>(trace.stages[counted_stage].elements);
    }
    a_.rate = ratio(elements_, seconds_);
    const double measured = ratio(trace.interval.consumer_seconds, elements_);
    consumer_ = options.consumer_seconds > 0 ? options.consumer_seconds : measured;
  }

  Analysis run() {
    for (const StageTrace& s : a_.trace.stages) a_.stages.push_back(rates(s));
    sizes();
    threads();
    ceilings();
    allocation();
    verdict();
    shares();
    trust();
    intervals();
    return std::move(a_);
  }

 private:
  const StageTrace& traced(int id) const { return a_.trace.stages[static_cast<size_t>(id)]; }
  StageModel& stage(int id) { return a_.stages[static_cast<size_t>(id)]; }

  StageModel rates(const StageTrace& s) {
    StageModel m;
    m.id = s.id;
    m.op = s.op;
    m.label = s.label;
    m.parent = s.parent;
    const auto n = static_cast<double>(s.elements);
    m.visit_ratio = ratio(n, elements_);
    m.demand_seconds = ratio(s.cpu_seconds, elements_);
    m.rate = ratio(n, seconds_);
    m.own_rate_per_core = s.cpu_seconds > 0 ? n / s.cpu_seconds : kNoBound;
    m.rate_per_core = m.demand_seconds > 0 ? 1 / m.demand_seconds : kNoBound;
    m.cores_used = ratio(s.cpu_seconds, seconds_);
    m.bytes_out = ratio(static_cast<double>(s.bytes), elements_);
    m.bytes_per_element = ratio(static_cast<double>(s.bytes), n);
    m.bytes_in = ratio(static_cast<double>(s.bytes_read), elements_);
    m.read_bytes_per_second = ratio(static_cast<double>(s.bytes_read), seconds_);
    m.lock_seconds = ratio(s.lock_seconds, elements_);
    m.sequential = !s.can_parallel;
    for (int p = s.parent; p >= 0; p = traced(p).parent) m.sequential &= !traced(p).can_parallel;
    a_.cores_used += m.cores_used;
    a_.demand_seconds += m.demand_seconds;
    a_.attributed_cpu_seconds += s.cpu_seconds;
    return m;
  }

  void sizes() {
    std::vector<StageSize> sizes(a_.stages.size());
    const std::vector<bool> repeated = repeated_stages(whole_);
    std::vector<bool> is_input(a_.stages.size(), false);
    for (size_t i = a_.stages.size(); i-- > 0;) {
      const int id = static_cast<int>(i);
      sizes[i] = stage_size(whole_, id, sizes, repeated[i]);
      a_.stages[i].size = sizes[i];
      a_.stages[i].cache = cache_verdict(whole_, id, sizes[i], a_.memory_bytes);
      for (const int input : traced(id).inputs) {
        a_.stages[i].bytes_in += stage(input).bytes_out;
        is_input[static_cast<size_t>(input)] = true;
      }
    }
    for (const StageModel& m : a_.stages) {
      if (m.parent >= 0 && !is_input[static_cast<size_t>(m.id)])
        stage(m.parent).bytes_in += m.bytes_out;
    }
  }

  void threads() {
    for (const StageTrace& s : a_.trace.stages) {
      const auto group = static_cast<size_t>(s.thread_group);
      if (a_.threads.size() <= group) a_.threads.resize(group + 1);
      a_.threads[group].stages.push_back(s.id);
      a_.threads[group].width = static_cast<double>(s.width);
    }
    std::erase_if(a_.threads, [](const ThreadModel& t) { return t.stages.empty(); });
    for (size_t t = 0; t < a_.threads.size(); ++t) {
      ThreadModel& group = a_.threads[t];
      double most = -1;
      for (const int id : group.stages) {
        StageModel& m = stage(id);
        m.thread = static_cast<int>(t);
        m.limit = static_cast<int64_t>(group.width);
        group.demand_seconds += m.demand_seconds;
        if (m.demand_seconds > most) {
          most = m.demand_seconds;
          group.heaviest = id;
        }
      }
      group.utilisation =
          group.demand_seconds * a_.rate / std::min(group.width, static_cast<double>(a_.cores));
    }
  }

  std::string name_of(const ThreadModel& group) {
    std::string out = stage(group.heaviest).label;
    const auto others = std::ranges::count_if(
        group.stages, [&](int id) { return id != group.heaviest && stage(id).demand_seconds > 0; });
    if (others > 0) out += " and " + std::to_string(others) + " more";
    return out + ", " + counted(group.width, "thread");
  }

  void ceilings() {
    for (size_t t = 0; t < a_.threads.size(); ++t) {
      const ThreadModel& group = a_.threads[t];
      if (group.demand_seconds <= 0) continue;
      a_.ceilings.push_back({Ceiling::Kind::threads, group.width / group.demand_seconds,
                             group.heaviest, static_cast<int>(t), name_of(group)});
    }
    if (a_.demand_seconds > 0) {
      // Work of no stage (reading ahead, hand-overs) takes cores, too.
      const double whole =
          std::max(a_.demand_seconds, ratio(a_.trace.interval.process_cpu_seconds, elements_));
      a_.ceilings.push_back(
          {Ceiling::Kind::cpu, a_.cores / whole, -1, -1, "CPU, " + counted(a_.cores, "core")});
    }
    if (options_.disk_bytes_per_second > 0 && read_per_element() > 0) {
      a_.ceilings.push_back({Ceiling::Kind::disk,
                             options_.disk_bytes_per_second / read_per_element(), reader(), -1,
                             "disk"});
    }
    double lock = 0;
    for (const StageModel& m : a_.stages) lock += m.lock_seconds;
    if (lock > 0) {
      const int id = std::ranges::max_element(a_.stages, {}, &StageModel::lock_seconds)->id;
      a_.ceilings.push_back(
          {Ceiling::Kind::lock, 1 / lock, id, -1, "lock of the code of " + stage(id).label});
    }
    if (consumer_ > 0)
      a_.ceilings.push_back({Ceiling::Kind::consumer, 1 / consumer_, -1, -1, "consumer"});
    std::ranges::stable_sort(a_.ceilings, {}, &Ceiling::rate);
  }

  double read_per_element() const {
    double out = 0;
    for (const StageTrace& s : a_.trace.stages) out += static_cast<double>(s.bytes_read);
    return ratio(out, elements_);
  }
  int reader() const {
    const auto most = std::ranges::max_element(a_.trace.stages, {}, &StageTrace::bytes_read);
    return most->bytes_read > 0 ? most->id : -1;
  }

  void allocation() {
    std::vector<StageDemand> demands;
    for (const StageModel& m : a_.stages) demands.push_back({m.rate_per_core, m.sequential});
    a_.best = allocate_cores(demands, a_.cores);
  }

  void verdict() {
    a_.waits = waits_of(a_.trace);
    a_.verdict = find_verdict(a_, {elements_, seconds_, consumer_, options_.disk_bytes_per_second});
  }

  // Splits time that is not busy into waiting for input and waiting for room. If the run did not
  // measure which, stages that feed the limiting one waited for room, the others for input.
  void shares() {
    const int holder = a_.verdict.stage;
    const bool all_blocked = a_.verdict.holder == Verdict::Holder::consumer;
    std::vector<int> feeds;
    if (holder >= 0) feeds = closure(a_.trace, holder);
    for (StageModel& m : a_.stages) {
      const StageTrace& s = traced(m.id);
      m.busy = std::clamp(ratio(s.cpu_seconds, seconds_ * static_cast<double>(m.limit)), 0.0, 1.0);
      const double rest = 1 - m.busy;
      const double measured = s.starved_seconds + s.blocked_seconds;
      if (measured > 0) {
        m.blocked = rest * s.blocked_seconds / measured;
      } else if (all_blocked || (m.id != holder && std::ranges::binary_search(feeds, m.id))) {
        m.blocked = rest;
      }
      m.starved = rest - m.blocked;
    }
  }

  void trust() {
    const TraceInterval& i = a_.trace.interval;
    a_.unattributed_cpu_seconds = std::max(0.0, i.process_cpu_seconds - a_.attributed_cpu_seconds);
    double blocks = 0;
    for (const StageTrace& s : a_.trace.stages) blocks += static_cast<double>(s.blocks);
    a_.tracing_overhead =
        std::min(1.0, ratio(blocks * kCounterSeconds,
                            std::max(i.process_cpu_seconds, a_.attributed_cpu_seconds)));
    const StageTrace& root = a_.trace.stages.front();
    a_.coverage = std::min(1.0, files_read_share(whole_, 0));
    if (a_.coverage <= 0 && root.cardinality > 0) {
      a_.coverage = std::min(1.0, static_cast<double>(whole_.interval.elements) /
                                      static_cast<double>(root.cardinality));
    }
    if (i.ended) a_.coverage = 1;
    // A fill that could not be told apart falsifies the rates.
    const bool filling = whole_.fill && a_.fill_seconds == 0 &&
                         whole_.fill->interval.seconds >= 0.5 * whole_.interval.seconds;
    a_.too_short = elements_ < 10 || seconds_ < kSteadySeconds || (filling && !i.ended);
  }

  void intervals() {
    const Resamples draws(a_.trace);
    a_.slices = draws.slices();
    a_.measured = with_spread(a_.rate, draws.spread([&](const SliceSums& s) {
      return ratio(counted_elements(a_, s), s.seconds);
    }));
  }

  const AnalyzeOptions options_;
  const Trace& whole_;
  Analysis a_;
  double seconds_ = 0, elements_ = 0, consumer_ = 0;
};

}  // namespace

std::string_view extent_name(Extent extent) {
  switch (extent) {
    case Extent::exact: return "exact";
    case Extent::estimated: return "estimated";
    case Extent::infinite: return "infinite";
    case Extent::unknown: break;
  }
  return "unknown";
}

std::string_view cache_verdict_name(CacheVerdict verdict) {
  switch (verdict) {
    case CacheVerdict::yes: return "yes";
    case CacheVerdict::random: return "random";
    case CacheVerdict::infinite: return "endless";
    case CacheVerdict::unknown_size: return "unknown";
    case CacheVerdict::too_large: return "too big";
    case CacheVerdict::nested: return "nested";
    case CacheVerdict::datasets: return "no rows";
    case CacheVerdict::sink: return "sink";
    case CacheVerdict::cached: break;
  }
  return "cached";
}

std::string cache_verdict_text(CacheVerdict verdict) {
  switch (verdict) {
    case CacheVerdict::yes: return "fits in memory";
    case CacheVerdict::random: return "random, a cache would freeze the draws";
    case CacheVerdict::infinite: return "never ends";
    case CacheVerdict::unknown_size: return "size not known";
    case CacheVerdict::too_large: return "larger than the memory budget";
    case CacheVerdict::nested: return "inside the function of another stage";
    case CacheVerdict::datasets: return "its elements are datasets";
    case CacheVerdict::sink: return "it gives one value";
    case CacheVerdict::cached: break;
  }
  return "it is a cache";
}

std::string_view ceiling_kind_name(Ceiling::Kind kind) {
  switch (kind) {
    case Ceiling::Kind::threads: return "threads";
    case Ceiling::Kind::cpu: return "cpu";
    case Ceiling::Kind::disk: return "disk";
    case Ceiling::Kind::lock: return "lock";
    case Ceiling::Kind::consumer: break;
  }
  return "consumer";
}

Spread allocation_spread(const Analysis& a, double cores, double disk_bytes_per_second) {
  return Resamples(a.trace).spread([&](const SliceSums& s) {
    const double n = counted_elements(a, s);
    double cpu = 0, slowest = 0, read = 0;
    for (size_t i = 0; i < a.stages.size(); ++i) {
      cpu += s.stage_cpu_seconds[i];
      read += s.stage_bytes_read[i];
      if (a.stages[i].sequential) slowest = std::max(slowest, s.stage_cpu_seconds[i]);
    }
    double seconds = std::max(std::max(cpu, s.process_cpu_seconds) / cores, slowest);
    if (disk_bytes_per_second > 0) seconds = std::max(seconds, read / disk_bytes_per_second);
    return ratio(n, seconds);
  });
}

Spread cpu_spread(const Analysis& a, const std::vector<bool>& computed) {
  return Resamples(a.trace).spread([&](const SliceSums& s) {
    double all = 0, cpu = 0;
    for (size_t i = 0; i < a.stages.size(); ++i) {
      all += s.stage_cpu_seconds[i];
      if (computed[i]) cpu += s.stage_cpu_seconds[i];
    }
    return ratio(cpu + std::max(0.0, s.process_cpu_seconds - all), counted_elements(a, s));
  });
}

Analysis analyze(const Trace& trace, const AnalyzeOptions& options) {
  return Analyzer(trace, options).run();
}

}  // namespace penstock
