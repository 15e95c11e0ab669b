#include "cli/progress.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <memory>
#include <mutex>
#include <thread>

#include "base/start_thread.h"
#include "cli/terminal.h"
#include "report/table.h"

namespace penstock::cli {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kSilence = std::chrono::seconds(2);
constexpr auto kEvery = std::chrono::milliseconds(200);

double seconds_since(Clock::time_point from) {
  return std::chrono::duration<double>(Clock::now() - from).count();
}

}  // namespace

struct ProgressPart {
  std::string what;
  double whole_seconds = 0;
  Clock::time_point began = Clock::now();
  std::atomic<int64_t> done{0}, whole{0};
  const ProgressPart* outer = nullptr;
};

namespace {

// State that the painting thread shares with others.
struct Shown {
  std::mutex mutex;
  std::condition_variable_any wake;
  Clock::time_point quiet_since;
  bool shown = false;
  std::jthread painter;

  std::atomic<ProgressPart*> innermost{nullptr};

  void erase() {
    if (shown) std::fputs("\r\033[K", stderr);
    shown = false;
  }
};

Shown& screen() {
  static Shown out;
  return out;
}

std::string line_of(const ProgressPart& part) {
  const double elapsed = seconds_since(part.began);
  const int64_t done = part.done, whole = part.whole;
  double share = part.whole_seconds > 0 ? elapsed / part.whole_seconds : 0;
  if (whole > 0) share = std::max(share, static_cast<double>(done) / static_cast<double>(whole));
  std::string line;
  if (share > 0 || whole > 0) {
    constexpr size_t kBar = 20;
    std::string bar(static_cast<size_t>(kBar * std::min(1.0, share)), '#');
    bar.resize(kBar, '.');
    line = "[" + bar + "] ";
  }
  const ProgressPart* outermost = &part;
  while (outermost->outer) outermost = outermost->outer;
  line += human_seconds(seconds_since(outermost->began)) + ", ";
  if (whole > 0) {
    line += std::to_string(done) + " of " + std::to_string(whole) + " ";
  } else if (done > 0) {
    line += std::to_string(done) + " ";
  }
  line += part.what;
  for (const ProgressPart* p = part.outer; p; p = p->outer) line += "; " + p->what;
  return shortened(line, terminal_width() - 1);
}

// Repaints the line of the innermost part until it is stopped.
void paint_lines(const std::stop_token& stop, Shown* s) {
  std::unique_lock held(s->mutex);
  while (!s->wake.wait_for(held, stop, kEvery, [&] { return stop.stop_requested(); })) {
    if (Clock::now() - s->quiet_since < kSilence) continue;
    std::fprintf(stderr, "\r%s\033[K", line_of(*s->innermost.load()).c_str());
    s->shown = true;
  }
}

}  // namespace

Progress::Progress(std::string what, double whole_seconds) : on_(is_terminal()) {
  if (!on_) return;
  auto part = std::make_unique<ProgressPart>();
  part->what = std::move(what);
  part->whole_seconds = whole_seconds;
  Shown& s = screen();
  const std::lock_guard lock(s.mutex);
  part->outer = outer_ = s.innermost.load();
  s.innermost = part.release();
  if (outer_) return;
  s.quiet_since = Clock::now();
  // Without a thread there is no progress line.
  start_thread(&s.painter, [&s](const std::stop_token& stop) { paint_lines(stop, &s); });
}

Progress::~Progress() {
  if (!on_) return;
  Shown& s = screen();
  if (!outer_) s.painter = std::jthread();  // stops it and waits
  const std::lock_guard lock(s.mutex);
  const std::unique_ptr<ProgressPart> mine(s.innermost.exchange(outer_));
  if (!outer_) s.erase();
}

void Progress::count(int64_t done, int64_t whole) {
  ProgressPart* part = screen().innermost.load(std::memory_order_relaxed);
  if (!part) return;
  part->done.store(done, std::memory_order_relaxed);
  part->whole.store(whole, std::memory_order_relaxed);
}

void Progress::say(std::string what) {
  Shown& s = screen();
  const std::lock_guard lock(s.mutex);
  if (ProgressPart* part = s.innermost.load()) part->what = std::move(what);
}

void Progress::hide() {
  Shown& s = screen();
  if (!s.innermost.load(std::memory_order_relaxed)) return;
  const std::lock_guard lock(s.mutex);
  s.erase();
  s.quiet_since = Clock::now();
}

void Progress::erase_at_exit() {
  Shown& s = screen();
  if (const std::unique_lock lock(s.mutex, std::try_to_lock); lock.owns_lock()) s.erase();
}

}  // namespace penstock::cli
