#include "cluster/score.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace penstock::cluster {
namespace {

template <typename... Values>
std::string line(const char* format, Values... values) {
  char out[200];
  std::snprintf(out, sizeof out, format, values...);
  return out;
}

std::string counted(int count, const char* noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

std::string size_of(const MeasuredRun& run) {
  return counted(run.workers, "worker") +
         (run.servers > 0 ? ", " + counted(run.servers, "server") : "");
}

}  // namespace

Score score(const std::vector<Point>& points, const std::vector<MeasuredRun>& runs) {
  Score out;
  for (const MeasuredRun& run : runs) {
    const auto point = std::ranges::find_if(points, [&](const Point& p) {
      return p.workers == run.workers && (p.servers == 0 || p.servers == run.servers);
    });
    if (point == points.end()) {
      ++out.others;
      continue;
    }
    ScoredRun& scored = out.runs.emplace_back();
    scored.run = run;
    scored.run.servers = point->servers;
    scored.predicted = point->steps_per_s;
    scored.error = point->steps_per_s / run.steps_per_s - 1;
    const bool interval = point->high > point->low;
    scored.inside = interval && run.steps_per_s >= point->low && run.steps_per_s <= point->high;
    out.intervals |= interval;
    out.inside += scored.inside ? 1 : 0;
    out.mean_error += std::abs(scored.error);
  }
  if (!out.runs.empty()) out.mean_error /= static_cast<double>(out.runs.size());
  return out;
}

std::vector<std::string> score_lines(const Score& score) {
  std::vector<std::string> out;
  for (const ScoredRun& r : score.runs) {
    out.push_back("measured: " + size_of(r.run) +
                  line(": %.4g steps/s, predicted %.4g, %+.1f %%", r.run.steps_per_s, r.predicted,
                       100 * r.error) +
                  (!score.intervals ? ""
                   : r.inside       ? ", within the interval"
                                    : ", outside the interval"));
  }
  if (!score.runs.empty()) {
    const auto worst = std::ranges::max_element(
        score.runs, {}, [](const ScoredRun& r) { return std::abs(r.error); });
    const auto count = static_cast<int>(score.runs.size());
    std::string sum =
        counted(count, "measured run") + line(": mean error %.1f %%", 100 * score.mean_error);
    if (score.intervals) sum += ", " + std::to_string(score.inside) + " within the 90 % interval";
    if (count > 1)
      sum += "; the worst: " + size_of(worst->run) + line(", %+.1f %%", 100 * worst->error);
    out.push_back(sum);
  }
  if (score.others > 0)
    out.push_back(counted(score.others, "measured run") +
                  " of other sizes than the predicted ones");
  return out;
}

}  // namespace penstock::cluster
