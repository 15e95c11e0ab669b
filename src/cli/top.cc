// penstock top: a running job, live in the terminal.

#include <unistd.h>

#include <cstdio>
#include <utility>

#include "cli/attached.h"
#include "cli/interrupt.h"
#include "cli/print_json.h"
#include "cli/top_screen.h"
#include "cli/top_watch.h"
#include "report/table.h"

namespace penstock::cli {
namespace {

using Woken = WakeOnSignal::Woken;

constexpr double kFirstSeconds = 0.3;  // until the first frame

struct Job {
  AttachedProcess process;
  std::vector<AttachedRun> runs;
  std::string trouble;  // why its runs are not known
};

std::vector<Job> running_jobs() {
  std::vector<Job> out;
  for (AttachedProcess& process : attachable_processes()) {
    Job job{std::move(process), {}, {}};
    try {
      job.runs = job.process.runs();
    } catch (const Error& e) {
      job.trouble = e.what();
    }
    if (!job.runs.empty() || !job.trouble.empty()) out.push_back(std::move(job));
  }
  return out;
}

void print_jobs(const std::vector<Job>& jobs, bool json) {
  if (!json) {
    using Align = TextTable::Align;
    TextTable table({{"pid"}, {"runs"}, {"up"}, {"elements"}, {"command", Align::left, 48}});
    for (const Job& job : jobs) {
      std::vector<std::string> row = {std::to_string(job.process.pid()),
                                      std::to_string(job.runs.size()), "", ""};
      if (!job.runs.empty()) {
        row[2] = human_seconds(job.runs[0].seconds);
        row[3] = human_number(static_cast<double>(job.runs[0].elements));
      }
      row.push_back(job.trouble.empty() ? job.process.command() : job.trouble);
      table.add_row(std::move(row));
    }
    std::fputs(table.text().c_str(), stdout);
    return;
  }
  Json list = Json::array();
  for (const Job& job : jobs) {
    Json runs = Json::array();
    for (const AttachedRun& r : job.runs) {
      runs.push_back(
          {{"run", r.run}, {"seconds", r.seconds}, {"elements", r.elements}, {"stages", r.stages}});
    }
    list.push_back(
        {{"pid", job.process.pid()}, {"command", job.process.command()}, {"runs", runs}});
  }
  print_json({{"jobs", std::move(list)}}, -1);
}

void print_frame(const TopView& view) {
  const TopScreen::Size size;
  for (const std::string& line : top_frame(view, size.width, size.height)) std::puts(line.c_str());
  check_output();
}

// Prints one frame, or an object at each interval.
int print(TopWatch* watch, double interval, bool json, bool once) {
  const WakeOnSignal wake;
  for (bool first = true;; first = false) {
    try {
      if (!watch->look() && once) {
        throw Error(Code::failed_precondition, "process " + std::to_string(watch->process().pid()) +
                                                   " has no pipeline open at the moment");
      }
    } catch (const Error&) {
      if (first || once) throw;
      return 0;  // the job is over
    }
    if (const auto view = watch->view()) {
      json ? print_json(top_json(*view), -1) : print_frame(*view);
      std::fflush(stdout);
      if (once) return 0;
    }
    if (wake.wait(interval) == Woken::signal) return 0;
  }
}

// Redraws the screen until the user leaves or the process ends.
int watch_live(TopWatch* watch, double interval) {
  const char* const kHelp = "q leaves; the job goes on";
  std::string over;
  {
    const WakeOnSignal wake;
    const TopScreen screen;
    TopView view;
    view.pid = watch->process().pid();
    view.command = watch->process().command();
    view.note = kHelp;
    for (bool first = true, left = false; !left; first = false) {
      try {
        const bool open = watch->look();
        if (auto now = watch->view(); now && open) view = *std::move(now);
        view.note = open ? kHelp : "no pipeline is open at the moment; q leaves";
      } catch (const Error& e) {
        if (!watch->is_alive()) {
          over = e.what();
          break;
        }
        view.note = std::string(e.what()) + "; q leaves";
      }
      const auto [width, height] = TopScreen::size();
      TopScreen::draw(top_frame(view, width, height), 1);
      const Woken woken =
          wake.wait(first ? std::min(interval, kFirstSeconds) : interval, STDIN_FILENO);
      left = woken == Woken::signal || (woken == Woken::input && TopScreen::is_left());
    }
  }
  if (!over.empty()) std::puts(over.c_str());
  return 0;
}

int top(const Args& args) {
  const bool json = args.has("--json");
  const double interval = args.get_seconds("--interval", 1);
  if (interval < 0.05) throw UsageError{"--interval is at least 50ms"};
  if (args.positional().size() > 1)
    throw UsageError{"one process at a time: " + args.positional()[1]};
  std::vector<AttachedProcess> chosen;
  if (!args.positional().empty()) {
    chosen.push_back(attach_to(args.positional()[0]));
  } else {
    std::vector<Job> jobs = before_work(running_jobs);
    if (jobs.empty())
      throw Error(Code::not_found, "no process of yours has a pipeline of Penstock open");
    if (jobs.size() > 1) {
      print_jobs(jobs, json);
      return 0;
    }
    chosen.push_back(std::move(jobs[0].process));
  }
  TopWatch watch(std::move(chosen[0]), args.get_int("--run", 0, 1));
  const bool once = args.has("--once") || (!json && !has_screen());
  if (json || once) return print(&watch, interval, json, once);
  return watch_live(&watch, interval);
}

}  // namespace

Command top_command() {
  return {"top",
          "[PID] [flags]",
          "show a running job live: stages, limits, rates, decisions",
          "Shows what a running process does with its pipeline, be it penstock, a C++ program or "
          "Python: the verdict, each stage with its limit, its share of busy time and its rate, "
          "and the last decisions of the live tuner. The job does not notice. Without PID it shows "
          "the only job of yours, or lists them. The rates are of the last interval, or of up to "
          "10 s if few elements come. If standard output is not a terminal, it prints one frame. "
          "Jobs can be asked by their own user only, and not at all with PENSTOCK_ATTACH=0 in "
          "their environment.",
          {{"--interval", "S", "time between two looks (default 1s)"},
           {"--run", "N", "which run of the process (default: the oldest that is open)"},
           {"--once", "", "print one frame of 80x24 and end"},
           {"--json", "", "one JSON object per look, each on a line (docs/format/top.md)"}},
          top};
}

}  // namespace penstock::cli
