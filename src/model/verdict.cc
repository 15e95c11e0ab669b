// The verdict names one cause even if several are close. It checks the signs in order of certainty:
// a given disk rate, the cores, threads that wait for a core, a lock under which user code runs, a
// full group of threads, threads that wait in reads. Each needs evidence of its own: idle threads
// do not prove slow storage. The thresholds are below 100 % because hand-overs take part of the
// time. If none is reached the verdict says so and does not guess.
#include "model/verdict.h"

#include <algorithm>
#include <cstdio>
#include <optional>

namespace penstock {
namespace {

using Holder = Verdict::Holder;
using State = Cause::State;

constexpr double kWorthMention = 0.05;  // a wait below this share of the step is noise
constexpr double kThreadFull = 0.75;    // busier threads limit: hand-overs take part of the rest
constexpr double kThreadFree = 0.5;     // less busy threads do not
constexpr double kCoresFull = 0.85;
constexpr double kCoresFree = 0.6;
constexpr double kDiskFull = 0.8;
constexpr double kShortOfCores = 0.2;  // of the time in which threads could run, without a core
constexpr double kReadsWait = 0.5;     // threads that stand in reads, on average
constexpr double kReadsFree = 0.1;
constexpr double kWaitMatters = 0.15;  // of the wall time, without a core
constexpr double kOthersMatter = 0.1;  // of the cores

double ratio(double a, double b) { return b > 0 ? a / b : 0; }

std::string formatted(const char* format, double n) {
  char text[64];
  std::snprintf(text, sizeof text, format, n);
  return text;
}

std::string percent(double share) { return formatted("%.0f %%", share * 100); }

std::string cores_text(double n) { return formatted("%.2g", n); }

std::string threads_text(double n) {
  return formatted("%.3g", n) + (n == 1 ? " thread" : " threads");
}

class Finder {
 public:
  Finder(const Analysis& analysis, const VerdictInput& input) : a_(analysis), in_(input) {}

  Verdict find() {
    if (in_.elements <= 0 || in_.seconds <= 0) {
      v_.reason = "no element came out" + held_back();
      if (!a_.trace.interval.ended && in_.seconds > 0)
        v_.reason += "; trace for longer (--seconds), or look for a filter that keeps none";
      return v_;
    }
    v_.step_seconds = std::max(in_.seconds / in_.elements, in_.consumer_seconds);
    v_.exposed_seconds = std::max(0.0, v_.step_seconds - in_.consumer_seconds);
    v_.input_bound = v_.exposed_seconds > kWorthMention * v_.step_seconds;
    std::vector<Cause> causes{consumer(), storage(), cores(), other_programs(), threads()};
    if (std::optional<Cause> held = lock()) causes.push_back(*std::move(held));
    decide(causes);
    for (Cause c : causes) {
      c.state = c.holder == v_.holder     ? State::holds
                : c.state == State::holds ? State::possible
                                          : c.state;
      v_.causes.push_back(std::move(c));
    }
    return v_;
  }

 private:
  const std::string& label(int id) const { return a_.stages[static_cast<size_t>(id)].label; }

  // Names the stage nearest to the source that takes elements and has returned none.
  std::string held_back() const {
    const std::vector<StageTrace>& stages = a_.trace.stages;
    for (size_t i = stages.size(); i-- > 0;) {
      if (stages[i].elements > 0 || stages[i].inputs.empty()) continue;
      const int64_t taken = stages[static_cast<size_t>(stages[i].inputs[0])].elements;
      if (taken > 0) {
        return ": " + stages[i].label + " has taken " + std::to_string(taken) +
               " and returned none";
      }
    }
    return {};
  }

  double bytes_per_second() const {
    double bytes = 0;
    for (const StageModel& s : a_.stages) bytes += s.read_bytes_per_second;
    return bytes;
  }
  int reader() const {
    const auto most = std::ranges::max_element(a_.stages, {}, &StageModel::read_bytes_per_second);
    return most->read_bytes_per_second > 0 ? most->id : -1;
  }
  int heaviest() const {
    return std::ranges::max_element(a_.stages, {}, &StageModel::demand_seconds)->id;
  }
  const ThreadModel& fullest() const {
    return *std::ranges::max_element(a_.threads, {}, &ThreadModel::utilisation);
  }

  Cause consumer() const {
    const double share = ratio(in_.consumer_seconds, v_.step_seconds);
    if (in_.consumer_seconds <= 0)
      return {Holder::consumer, State::ruled_out, "the run only drains the pipeline", -1};
    return {Holder::consumer, v_.input_bound ? State::ruled_out : State::holds,
            "the consumer takes " + percent(share) + " of each step", -1};
  }

  Cause storage() const {
    const int id = reader();
    if (id < 0) return {Holder::storage, State::ruled_out, "no file is read", -1};
    const double disk = in_.disk_bytes_per_second;
    if (disk > 0 && bytes_per_second() >= kDiskFull * disk) {
      return {
          Holder::storage, State::holds,
          label(id) + " takes " + percent(bytes_per_second() / disk) + " of the disk's bandwidth",
          id};
    }
    if (!a_.waits.storage_seconds)
      return {Holder::storage, State::unknown, "the trace does not say what its reads waited", id};
    const double standing = *a_.waits.storage_seconds / a_.trace.interval.seconds;
    const std::string why = label(id) + " waits for storage (" + formatted("%.2g", standing) +
                            " threads stand in reads, without CPU)";
    if (standing >= kReadsWait) return {Holder::storage, State::holds, why, id};
    return {Holder::storage, standing < kReadsFree ? State::ruled_out : State::possible,
            "reads wait " + percent(standing) + " of the time", id};
  }

  // CPU of this process.
  Cause cores() const {
    const double attributed = a_.cores_used / a_.cores;
    const double used = std::max(attributed, ratio(a_.waits.process_cores, a_.cores));
    const std::string cores =
        a_.cores == 1 ? "the core is" : "all " + std::to_string(a_.cores) + " cores are";
    const int id = heaviest();
    const double part = ratio(a_.stages[static_cast<size_t>(id)].demand_seconds, a_.demand_seconds);
    if (attributed >= kCoresFull) {
      return {Holder::cpu, State::holds,
              cores + " busy, " + percent(part) + " of it in " + label(id), id};
    }
    if (used >= kCoresFull) {
      return {Holder::cpu, State::holds,
              cores + " busy, " + percent(1 - attributed / used) + " of it in no stage, and " +
                  percent(part * attributed / used) + " in " + label(id),
              id};
    }
    return {Holder::cpu, used < kCoresFree ? State::ruled_out : State::possible,
            "the process uses " + cores_text(used * a_.cores) + " of " + cores_text(a_.cores) +
                (a_.cores == 1 ? " core" : " cores"),
            id};
  }

  Cause other_programs() const {
    const Waits& w = a_.waits;
    if (!w.descheduled_seconds) {
      return {Holder::other_programs, State::unknown,
              "the trace does not say whether threads waited for a core", -1};
    }
    std::string why =
        "threads that could run wait for a core " + percent(w.descheduled_share) + " of the time";
    const bool others = w.other_cores.value_or(0) >= kOthersMatter * a_.cores;
    if (w.other_cores) {
      why += others ? "; other programs use " + cores_text(*w.other_cores) + " of " +
                          cores_text(a_.cores) + (a_.cores == 1 ? " core" : " cores")
                    : "; other programs use few";
    }
    if (w.descheduled_share < kWorthMention)
      return {Holder::other_programs, State::ruled_out, why, -1};
    const bool wait = w.descheduled_share >= kShortOfCores &&
                      *w.descheduled_seconds >= kWaitMatters * a_.trace.interval.seconds;
    return {Holder::other_programs,
            wait && (others || !w.other_cores) ? State::holds : State::possible, why, -1};
  }

  // Nothing where no user code runs under a lock.
  std::optional<Cause> lock() const {
    const auto most = std::ranges::max_element(a_.stages, {}, &StageModel::lock_seconds);
    double seconds = 0, waited = 0;
    for (const StageTrace& s : a_.trace.stages) {
      seconds += s.lock_seconds;
      waited += s.lock_wait_seconds;
    }
    if (seconds <= 0) return {};
    const double share = seconds / a_.trace.interval.seconds;
    // Code may release the lock while it computes, so that several threads get more than one
    // thread's time. Then they do not wait for it.
    const bool is_full =
        share >= kThreadFull && (share <= 1 || waited >= kWaitMatters * a_.trace.interval.seconds);
    return Cause{Holder::lock,
                 is_full               ? State::holds
                 : share < kThreadFree ? State::ruled_out
                                       : State::possible,
                 label(most->id) + " runs code under a lock, one thread at a time (" +
                     percent(std::min(1.0, share)) + " of the time)",
                 most->id};
  }

  // Returns the share of one thread that reading ahead and decompression take for the only source,
  // which reads its files one after the other; 0 where several read, or the trace does not say.
  double reading_thread() const {
    const int id = reader();
    if (id < 0) return 0;
    const StageTrace& s = a_.trace.stages[static_cast<size_t>(id)];
    const auto readers = std::ranges::count_if(
        a_.trace.stages, [](const StageTrace& other) { return other.bytes_read > 0; });
    if (readers != 1 || s.parent >= 0 || !s.inputs.empty()) return 0;
    const auto io = std::ranges::find(a_.trace.threads, "io", &ThreadTrace::kind);
    return io == a_.trace.threads.end() ? 0 : io->cpu_seconds / a_.trace.interval.seconds;
  }

  Cause threads() const {
    if (const double share = reading_thread(); share >= kThreadFull) {
      return {Holder::stage, State::holds,
              label(reader()) + " holds the rate (one thread reads its files, " +
                  percent(std::min(1.0, share)) + " busy)",
              reader()};
    }
    const ThreadModel& full = fullest();
    const std::string busy =
        "(" + threads_text(full.width) + ", " + percent(std::min(1.0, full.utilisation)) + " busy)";
    if (full.utilisation >= kThreadFull) {
      return {Holder::stage, State::holds, label(full.heaviest) + " holds the rate " + busy,
              full.heaviest};
    }
    return {Holder::stage, full.utilisation < kThreadFree ? State::ruled_out : State::possible,
            "the fullest threads are those of " + label(full.heaviest) + " " + busy, full.heaviest};
  }

  void hold(const Cause& cause) {
    v_.holder = cause.holder;
    v_.stage = cause.stage;
    v_.reason = cause.why;
  }

  void decide(const std::vector<Cause>& causes) {
    const auto at = [&](Holder h) { return *std::ranges::find(causes, h, &Cause::holder); };
    const Cause storage = at(Holder::storage);
    const bool disk_is_full = storage.state == State::holds && in_.disk_bytes_per_second > 0 &&
                              bytes_per_second() >= kDiskFull * in_.disk_bytes_per_second;
    if (!v_.input_bound) return hold(at(Holder::consumer));
    if (disk_is_full) return hold(storage);
    // Threads that stand in reads need few cores: busy ones delay them, but are not the cause.
    const bool reads_wait_longer = storage.state == State::holds && a_.waits.storage_seconds &&
                                   *a_.waits.storage_seconds > *a_.waits.descheduled_seconds;
    if (reads_wait_longer && at(Holder::cpu).state != State::holds &&
        at(Holder::stage).state != State::holds)
      return hold(storage);
    for (const Holder h :
         {Holder::cpu, Holder::other_programs, Holder::lock, Holder::stage, Holder::storage}) {
      const auto cause = std::ranges::find(causes, h, &Cause::holder);
      if (cause != causes.end() && cause->state == State::holds) return hold(*cause);
    }
    unclear(causes);
  }

  // Says what comes closest and what the trace cannot tell.
  void unclear(const std::vector<Cause>& causes) {
    v_.holder = Holder::unclear;
    v_.stage = fullest().heaviest;
    v_.reason = "nothing is full";
    std::string possible, unknown;
    for (const Cause& c : causes) {
      if (c.state == State::possible) possible += (possible.empty() ? "" : "; ") + c.why;
      if (c.state == State::unknown) unknown += (unknown.empty() ? "" : "; ") + c.why;
    }
    if (possible.empty()) possible = threads().why;
    v_.reason += ": " + possible;
    if (!unknown.empty()) v_.reason += "; " + unknown;
    v_.reason += "; hand-overs between threads may take the rest";
  }

  const Analysis& a_;
  const VerdictInput in_;
  Verdict v_;
};

}  // namespace

Verdict find_verdict(const Analysis& analysis, const VerdictInput& input) {
  return Finder(analysis, input).find();
}

std::string_view holder_name(Verdict::Holder holder) {
  switch (holder) {
    case Holder::consumer: return "consumer";
    case Holder::stage: return "stage";
    case Holder::cpu: return "cpu";
    case Holder::other_programs: return "other programs";
    case Holder::storage: return "storage";
    case Holder::lock: return "lock";
    case Holder::unclear: break;
  }
  return "unclear";
}

std::string_view cause_state_name(Cause::State state) {
  switch (state) {
    case State::holds: return "holds";
    case State::possible: return "possible";
    case State::ruled_out: return "ruled out";
    case State::unknown: break;
  }
  return "unknown";
}

}  // namespace penstock
