#include "optimizer/simulated_pipeline.h"

#include <algorithm>
#include <cmath>
#include <queue>
#include <random>
#include <set>

#include "optimizer/tuner_model.h"

namespace penstock {
namespace {

enum class Event : uint8_t { pulled, computed, consumed, tick };

// State of one stage. It outlives the times in which it has threads of its own.
struct Working {
  int64_t tasks = 0;       // at work
  int64_t next = 0;        // number of the next element to begin
  int64_t front = 0;       // number of the next element to take
  int64_t ready = 0;       // finished in order, from `front` on
  std::set<int64_t> done;  // finished out of order
  bool pulling = false;
  int64_t elements = 0;
  double busy = 0;
};

class Simulation {
 public:
  Simulation(const SimulatedPipeline& p, TunerPolicy* policy, double seconds)
      : p_(p),
        policy_(policy),
        end_(seconds),
        stages_(p.stages),
        work_(p.stages.size()),
        free_cores_(p.cores),
        random_(p.seed) {}

  SimulatedRun run() {
    at(kTickSeconds, Event::tick, 0, 0);
    settle();
    while (!events_.empty() && events_.top().time <= end_) {
      const Entry e = events_.top();
      events_.pop();
      now_ = e.time;
      happen(e);
      settle();
    }
    out_.seconds = end_;
    out_.elements = taken_;
    out_.stages = stages_;
    return std::move(out_);
  }

 private:
  static constexpr double kTickSeconds = 0.1;
  static constexpr size_t kConsumer = SIZE_MAX;

  struct Entry {
    double time;
    int64_t order;
    Event what;
    size_t stage;
    int64_t number;
    double later;                               // computing, after pulling
    bool operator<(const Entry& other) const {  // the earliest is on top
      return time != other.time ? time > other.time : order > other.order;
    }
  };

  void at(double time, Event what, size_t stage, int64_t number, double later = 0) {
    events_.push({time, order_++, what, stage, number, later});
  }

  bool is_ahead(size_t i) const {
    return stages_[i].has_calls ? stages_[i].calls > 1 : stages_[i].rows_ahead > 0;
  }
  int64_t calls(size_t i) const { return stages_[i].has_calls ? stages_[i].calls : 1; }
  int64_t room(size_t i) const {
    return stages_[i].has_calls ? 2 * stages_[i].calls + 1 : stages_[i].rows_ahead;
  }

  double drawn(size_t i, double mean) {
    const double v = stages_[i].variation;
    const double seconds = mean * p_.slowdown(i, now_);
    if (v <= 0 || seconds <= 0) return seconds;
    return std::gamma_distribution<double>(1 / v, v * seconds)(random_);
  }

  // The stage with threads of its own from which `count` elements of stage `first` are pulled, and
  // how many of its elements that takes.
  struct Pulled {
    size_t source = kConsumer;  // none: it ends in the source
    int64_t elements = 0;
  };
  Pulled pulled(size_t first, int64_t count) const {
    for (size_t i = first; i < stages_.size(); ++i) {
      if (is_ahead(i)) return {i, count};
      count *= stages_[i].inputs;
    }
    return {};
  }
  // Draws the times of the stages on the way, and counts them.
  double spend(size_t first, int64_t count) {
    double out = 0;
    for (size_t i = first; i < stages_.size() && !is_ahead(i); ++i) {
      for (int64_t k = 0; k < count; ++k) out += compute(i);
      count *= stages_[i].inputs;
    }
    return out;
  }
  double compute(size_t i) {
    const double seconds = drawn(i, stages_[i].cpu_seconds);
    work_[i].busy += seconds;
    ++work_[i].elements;
    return seconds;
  }
  bool take(const Pulled& need) {
    if (need.source == kConsumer) return true;
    Working& w = work_[need.source];
    if (w.ready < need.elements) return false;
    w.ready -= need.elements;
    w.front += need.elements;
    return true;
  }

  // Starts whatever can start: the consumer first, then tasks from the consumer down.
  void settle() {
    for (bool again = true; again;) {
      again = start_consumer();
      for (size_t i = 0; i < stages_.size() && free_cores_ > 0; ++i) {
        while (free_cores_ > 0 && start_task(i)) again = true;
      }
    }
    double held = 0;
    for (size_t i = 0; i < stages_.size(); ++i)
      held += static_cast<double>((work_[i].next - work_[i].front) * stages_[i].bytes);
    out_.most_bytes = std::max(out_.most_bytes, held);
  }

  bool start_consumer() {
    if (consuming_) return false;
    const Pulled need = pulled(0, 1);
    if (!take(need)) return false;
    consuming_ = true;
    const double here = spend(0, 1);
    asking_ += now_ - asked_ + here;
    ++taken_;
    at(now_ + here + p_.consumer(now_), Event::consumed, 0, 0);
    return true;
  }

  bool start_task(size_t i) {
    Working& w = work_[i];
    if (!is_ahead(i) || w.pulling || w.tasks >= calls(i)) return false;
    // Elements that a batch needs at once always fit.
    const int64_t most = std::max(room(i), wanted_of(i));
    if (w.next - w.front >= most) return false;
    const Pulled need = pulled(i + 1, stages_[i].inputs);
    if (!take(need)) return false;
    ++w.tasks;
    w.pulling = true;
    --free_cores_;
    const double pull = spend(i + 1, stages_[i].inputs);
    const double own = compute(i);
    at(now_ + pull, Event::pulled, i, w.next++, own);
    return true;
  }
  int64_t wanted_of(size_t i) const {
    int64_t wanted = 1;
    for (size_t user = i; user-- > 0;) {
      wanted *= stages_[user].inputs;
      if (is_ahead(user)) break;
    }
    return wanted;
  }

  void happen(const Entry& e) {
    switch (e.what) {
      case Event::pulled:
        work_[e.stage].pulling = false;
        return at(now_ + e.later, Event::computed, e.stage, e.number);
      case Event::computed: ++free_cores_; return publish(&work_[e.stage], e.number);
      case Event::consumed:
        consuming_ = false;
        asked_ = now_;
        return;
      case Event::tick: return tick();
    }
  }

  static void publish(Working* w, int64_t number) {
    --w->tasks;
    w->done.insert(number);
    while (!w->done.empty() && *w->done.begin() == w->front + w->ready) {
      w->done.erase(w->done.begin());
      ++w->ready;
    }
  }

  TunerView view() const {
    TunerView v;
    v.seconds = now_;
    v.cores = p_.cores;
    v.memory_bytes = p_.memory_bytes;
    v.asking_seconds = asking_ + (consuming_ ? 0 : now_ - asked_);
    for (size_t i = 0; i < stages_.size(); ++i) {
      const SimulatedStage& s = stages_[i];
      TunedStage t;
      t.id = static_cast<int>(i);
      t.user = static_cast<int>(i) - 1;
      if (s.has_calls) t.calls = {s.calls, 4 * p_.cores, !s.fixed};
      if (!s.has_calls)
        t.rows_ahead = {s.rows_ahead, s.rows_ahead > 0 ? INT64_MAX : 0,
                        !s.fixed && s.rows_ahead > 0};
      t.elements = t.blocks = i == 0 ? taken_ : work_[i].elements;
      t.bytes = t.elements * s.bytes;
      t.busy_seconds = work_[i].busy;
      v.stages.push_back(t);
    }
    return v;
  }

  void tick() {
    const TunerView v = view();
    SimulatedRun::Sample sample{now_, taken_, {}, 0};
    if (policy_ && now_ >= next_look_ - 1e-9) {
      for (const TunerMove& m : policy_->decide(v)) {
        SimulatedStage& s = stages_[m.stage];
        (m.what == Tuned::calls ? s.calls : s.rows_ahead) = m.to;
        ++out_.changes;
      }
      next_look_ = now_ + policy_->next_seconds();
    }
    for (const SimulatedStage& s : stages_)
      sample.values.push_back(s.has_calls ? s.calls : s.rows_ahead);
    const TunerView after = view();
    if (taken_ > 0) sample.planned_bytes = planned_bytes(after, tuner_costs(empty(after), after));
    out_.samples.push_back(std::move(sample));
    at(now_ + kTickSeconds, Event::tick, 0, 0);
  }
  static TunerView empty(TunerView v) {
    for (TunedStage& s : v.stages) s.elements = s.blocks = s.bytes = 0, s.busy_seconds = 0;
    v.seconds = v.asking_seconds = 0;
    return v;
  }

  const SimulatedPipeline& p_;
  TunerPolicy* const policy_;
  const double end_;
  std::vector<SimulatedStage> stages_;
  std::vector<Working> work_;
  int free_cores_;
  std::mt19937_64 random_;
  std::priority_queue<Entry> events_;
  int64_t order_ = 0;
  double now_ = 0, next_look_ = 0;
  bool consuming_ = false;
  double asking_ = 0, asked_ = 0;
  int64_t taken_ = 0;
  SimulatedRun out_;
};

}  // namespace

double SimulatedRun::rate(double from, double to) const {
  const Sample *first = nullptr, *last = nullptr;
  for (const Sample& s : samples) {
    if (s.seconds < from - 1e-9 || s.seconds > to + 1e-9) continue;
    if (!first) first = &s;
    last = &s;
  }
  if (!first || last == first) return 0;
  return static_cast<double>(last->elements - first->elements) / (last->seconds - first->seconds);
}

SimulatedRun simulate(const SimulatedPipeline& pipeline, TunerPolicy* policy, double seconds) {
  return Simulation(pipeline, policy, seconds).run();
}

SimulatedPipeline drawn_pipeline(uint64_t seed, int cores) {
  constexpr double kMs = 1e-3;
  constexpr int64_t kBytes = 1000;
  std::mt19937_64 random(seed);
  const auto uniform = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  SimulatedPipeline p;
  p.cores = cores;
  p.seed = seed;
  const uint64_t maps = 2 + random() % 2;
  int64_t size = 1;
  if (random() % 2 == 0) {
    size = 8;
    SimulatedStage batch;
    batch.cpu_seconds = uniform(0, 0.5) * kMs;
    batch.inputs = size;
    batch.bytes = size * kBytes;
    p.stages.push_back(batch);
  }
  for (uint64_t i = 0; i < maps; ++i) {
    SimulatedStage map;
    map.cpu_seconds = std::exp(uniform(-2.5, 1.5)) * kMs;
    map.variation = uniform(0, 1);
    map.has_calls = true;
    map.bytes = kBytes;
    p.stages.push_back(map);
  }
  SimulatedStage source;
  source.cpu_seconds = uniform(0.01, 0.3) * kMs;
  p.stages.push_back(source);
  if (random() % 3 == 0) {
    const double seconds = uniform(0.1, 4) * kMs * static_cast<double>(size);
    p.consumer = [seconds](double) { return seconds; };
  }
  return p;
}

double exhaustive_rate(SimulatedPipeline pipeline, double seconds) {
  std::vector<SimulatedStage*> free;
  for (SimulatedStage& s : pipeline.stages) {
    if (!s.has_calls || s.fixed) continue;
    s.calls = 1;
    free.push_back(&s);
  }
  double best = 0;
  for (;;) {
    best = std::max(best, simulate(pipeline, nullptr, seconds).rate());
    size_t i = 0;
    while (i < free.size() && free[i]->calls == pipeline.cores) free[i++]->calls = 1;
    if (i == free.size()) return best;
    ++free[i]->calls;
  }
}

}  // namespace penstock
