#include "cli/top_watch.h"

#include <algorithm>

#include "base/error.h"
#include "job/suggestions.h"

namespace penstock::cli {
namespace {

constexpr double kMostSeconds = 10;
constexpr int64_t kEnoughElements = 20;

}  // namespace

bool TopWatch::look() {
  const std::vector<AttachedRun> runs = process_.runs();
  runs_ = static_cast<int64_t>(runs.size());
  if (wanted_ > 0) {
    over_ = std::ranges::find(runs, wanted_, &AttachedRun::run) == runs.end();
    return look_at(wanted_);
  }
  const bool is_open = std::ranges::find(runs, run_, &AttachedRun::run) != runs.end();
  if (!is_open && runs.empty()) return false;
  try {
    return look_at(is_open ? run_ : runs.front().run);
  } catch (const Error& e) {
    if (e.code() != Code::not_found) throw;
    return false;  // it has ended since
  }
}

bool TopWatch::look_at(int64_t run) {
  Trace trace = process_.trace(run, false);
  if (run != run_) looks_.clear();
  run_ = run;
  looks_.push_back(std::move(trace));
  const double now = looks_.back().interval.seconds;
  while (looks_.size() > 2 && now - looks_[1].interval.seconds >= kMostSeconds) looks_.pop_front();
  return true;
}

bool TopWatch::is_alive() const { return is_running(process_.pid()) && !over_; }

std::optional<TopView> TopWatch::view() const {
  if (looks_.size() < 2) return {};
  const Trace& last = looks_.back();
  size_t from = looks_.size() - 2;
  while (from > 0 && last.interval.elements - looks_[from].interval.elements < kEnoughElements)
    --from;
  TopView out;
  out.pid = process_.pid();
  out.command = process_.command();
  out.run = run_;
  out.runs = runs_;
  out.up_seconds = last.interval.seconds;
  out.elements = last.interval.elements;
  AnalyzeOptions options;
  options.cores = last.machine.cores;
  out.analysis = analyze(trace_between(looks_[from], last), options);
  out.explanation = suggestions(out.analysis);
  return out;
}

}  // namespace penstock::cli
