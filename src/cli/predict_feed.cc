#include "cli/predict_feed.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <memory>

#include "base/error.h"
#include "cli/measure.h"
#include "cli/pipeline.h"
#include "cli/progress.h"

namespace penstock::cli {
namespace {

constexpr double kFeedSeconds = 2;
constexpr size_t kFewIntervals = 8;
constexpr int64_t kMostBuffer = 100'000;
constexpr double kMostSpread = 100;

std::string print(const char* format, double a, double b = 0) {
  char out[160];
  std::snprintf(out, sizeof out, format, a, b);
  return out;
}

// Notes when elements come.
class Arrivals final : public RunObserver {
 public:
  void begin(BlockIterator* iterator) override { run_.begin(iterator); }
  void end() override { run_.end(); }
  bool is_stopped() const override { return run_.is_stopped(); }
  void count(int64_t elements, int64_t steps) override {
    run_.count(elements, steps);
    const auto now = std::chrono::steady_clock::now();
    const auto more = static_cast<double>(elements - elements_);
    if (more > 0 && ++blocks_ > kFewIntervals)  // the first fill buffers
      gaps_.emplace_back(more, std::chrono::duration<double>(now - last_).count());
    elements_ = elements;
    last_ = now;
  }
  // Returns the standard deviation of the time between elements as a share of its mean, from blocks
  // of elements; negative: too few blocks.
  double spread() const {
    if (gaps_.size() < kFewIntervals) return -1;
    double count = 0, seconds = 0, sum = 0;
    for (const auto& [n, s] : gaps_) count += n, seconds += s;
    const double mean_s = seconds / count;
    if (mean_s <= 0) return -1;
    for (const auto& [n, s] : gaps_) sum += (s - n * mean_s) * (s - n * mean_s) / n;
    return std::sqrt(sum / static_cast<double>(gaps_.size() - 1)) / mean_s;
  }

 private:
  CommandRun run_;
  int64_t elements_ = 0;
  size_t blocks_ = 0;
  std::chrono::steady_clock::time_point last_;
  std::vector<std::pair<double, double>>
      gaps_;  // elements of a block, seconds since the one before
};

// A pipeline's rate, and the cores that it needs.
struct Measured {
  cluster::Feed feed;
  double cpu_s = 0;  // for an element
  int cores = 0;     // of its machine
};

Measured from_trace(const Trace& trace, const std::string& path) {
  const TraceInterval& i = trace.interval;
  // A consumer's own work is not the pipeline's: what is left is the time in which it waited.
  const double seconds = i.consumer_seconds > 0 ? i.seconds - i.consumer_seconds : i.seconds;
  if (i.elements == 0 || seconds <= 0)
    throw UsageError{"--feed " + path + ": no element came out of the pipeline in this trace"};
  const auto elements = static_cast<double>(i.elements);
  Measured out;
  out.feed.rate = elements / seconds;
  out.cpu_s = i.process_cpu_seconds / elements;
  out.cores = trace.machine.cores;
  return out;
}

Measured from_run(const std::string& path, double* spread) {
  const Progress progress("the input pipeline is measured", kFeedSeconds);
  const LoadedPipeline loaded = load_pipeline(Args({path}, pipeline_flags()));
  Arrivals arrivals;
  const TracedRun run =
      traced_run(loaded.plan, loaded.run_options, std::make_shared<PipelineState>(),
                 {.seconds = kFeedSeconds}, &arrivals);
  if (run.error) throw Error(run.error->code(), "--feed " + path + ": " + run.error->message());
  *spread = arrivals.spread();
  return from_trace(run.trace, path);
}

// Slows the pipeline down as far as several on one machine want more cores than it has.
void share_cores(int64_t workers, Measured* m, std::vector<std::string>* notes) {
  const double wanted = static_cast<double>(workers) * m->feed.rate * m->cpu_s;
  const bool full = m->cores > 0 && wanted > m->cores;
  if (full) m->feed.rate *= m->cores / wanted;
  notes->push_back(std::to_string(workers) + " workers share a machine of " +
                   std::to_string(m->cores) + print(" cores: their pipelines want %.3g", wanted) +
                   (full ? print(", so each gives %.4g elements/s", m->feed.rate) : ""));
}

double parse_spread(const std::string& text) {
  double v = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), v);
  if (error != std::errc() || end != text.data() + text.size() || !(v >= 0) || v > kMostSpread)
    throw UsageError{"--feed-spread must be a number from 0 to 100: " + text};
  return v;
}

bool is_rate(const std::string& text, double* rate) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *rate);
  return error == std::errc() && std::string_view(end, text.data() + text.size()) == "/s";
}

}  // namespace

std::vector<Flag> feed_flags() {
  return {{"--feed", "PIPE|TRACE|RATE",
           "input of each worker, one element per step: a pipeline, run for 2 s, a trace of one, "
           "or a rate: 12.5/s"},
          {"--feed-spread", "X",
           "standard deviation of the time between its elements, as a share of the mean (as "
           "measured; of a rate or trace 0)"},
          {"--feed-buffer", "N", "elements that it makes ahead; 0: made when a step asks (2)"},
          {"--feed-share", "N",
           "workers on one machine, whose pipelines share its cores (1); needs a pipeline or "
           "trace"}};
}

void check_feed(const Args& args) {
  double rate = 0;
  const auto feed = args.get("--feed");
  for (const char* flag : {"--feed-spread", "--feed-buffer", "--feed-share"}) {
    if (args.has(flag) && !feed) throw UsageError{std::string(flag) + " goes with --feed"};
  }
  if (!feed) return;
  if (const auto spread = args.get("--feed-spread")) parse_spread(*spread);
  if (args.get_int("--feed-buffer", 2, 0) > kMostBuffer)
    throw UsageError{"--feed-buffer must be from 0 to 100000: " + *args.get("--feed-buffer")};
  args.get_int("--feed-share", 1, 1);
  if (!is_rate(*feed, &rate)) return;
  if (!(rate > 0) || !std::isfinite(rate))
    throw UsageError{"--feed must be a rate of more than 0, such as 12.5/s, or a pipeline: " +
                     *feed};
  if (args.has("--feed-share"))
    throw UsageError{"--feed-share needs a pipeline or a trace: a rate does not say how many cores "
                     "it takes: " +
                     *feed};
}

cluster::Feed parse_feed(const Args& args, std::vector<std::string>* notes) {
  const auto text = args.get("--feed");
  if (!text) return {};
  Measured m;
  double spread = 0;
  if (!is_rate(*text, &m.feed.rate)) {
    const std::string content = *text == "-" ? std::string() : read_text(*text);
    const bool trace = looks_like_trace(content);
    m = trace ? from_trace(read_trace(content, *text), *text) : from_run(*text, &spread);
    notes->push_back(
        print("each worker is fed %.4g elements/s, one a step: ", m.feed.rate) +
        (trace ? "as in the trace " + *text : "measured with " + *text + " on this machine"));
    if (args.has("--feed-share")) share_cores(args.get_int("--feed-share", 1, 1), &m, notes);
    if (trace && !args.has("--feed-spread"))
      notes->push_back("a trace does not say how its rate varies: taken as steady; --feed-spread "
                       "gives it a spread");
    if (spread < 0)
      notes->push_back("too few elements came to see how their rate varies: taken as steady");
  }
  m.feed.spread = args.has("--feed-spread") ? parse_spread(*args.get("--feed-spread"))
                                            : std::clamp(spread, 0.0, kMostSpread);
  m.feed.buffer = static_cast<int32_t>(args.get_int("--feed-buffer", 2, 0));
  if (m.feed.spread > 0)
    notes->push_back(
        print("the time between elements varies by %.0f %% of its mean", 100 * m.feed.spread) +
        ", and " + std::to_string(m.feed.buffer) + " are made ahead");
  return m.feed;
}

}  // namespace penstock::cli
