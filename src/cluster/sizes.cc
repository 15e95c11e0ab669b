#include "cluster/sizes.h"

#include <algorithm>

#include "base/error.h"
#include "cluster/place_search.h"
#include "cluster/what_if.h"

namespace penstock::cluster {
namespace {

constexpr int64_t kBucketBytes = 25 << 20;  // of DDP

}  // namespace

void add_notes(const std::vector<std::string>& from, std::vector<std::string>* to) {
  for (const std::string& n : from)
    if (std::ranges::find(*to, n) == to->end()) to->push_back(n);
}

std::vector<Profile> prepared_kinds(std::vector<Profile> kinds, Order order, double batch_scale,
                                    const Question& question) {
  for (Profile& p : kinds) {
    p = scale_batch(std::move(p), batch_scale);
    if (question.mode == Mode::all_reduce && !has_collectives(p))
      p = to_all_reduce(p, kBucketBytes);
    p = with_order(std::move(p), order, question.rig.server_rate, question.seed);
  }
  return kinds;
}

Placed place_kinds(const std::vector<Profile>& kinds, const std::vector<int32_t>& servers,
                   std::optional<Placement> placement, const Question& question,
                   std::vector<std::string>* notes) {
  const Placement how = placement.value_or(Placement::greedy);
  const auto put_on = [&](const Profile& p, int32_t m) {
    return how == Placement::optimised ? place_optimised(p, m, question) : place(p, m, how);
  };
  Placed placed;
  for (const int32_t m : servers) {
    placed.emplace_back();
    const bool no_servers = question.mode == Mode::all_reduce;
    for (const Profile& p : kinds) {
      const bool stays = m == p.servers && !placement;
      placed.back().push_back(stays || no_servers ? p : put_on(p, m));
      add_notes(placed.back().back().notes, notes);
    }
    if (no_servers) break;
  }
  return placed;
}

void predict_sizes(const Placed& placed, const Question& question,
                   const std::vector<MeasuredRun>& runs, const Watch& watch) {
  for (size_t i = 0; i < placed.size(); ++i) {
    Watch one = watch;
    if (watch.simulation) {
      one.simulation = [&](size_t done, size_t whole) {
        watch.simulation(i * whole + done, placed.size() * whole);
      };
    }
    if (question.model != Model::optimus) {
      predict(placed[i], question, one);
      continue;
    }
    for (const Point& p : optimus_points(fit_optimus(runs), placed[i][0].servers, question))
      watch.point(p);
  }
}

std::optional<std::string> step_time_note(const std::vector<Point>& points,
                                          const Question& question) {
  for (const Point& point : points) {
    const double step_s = point.workers / batches_per_s(point);
    if (point.workers > 1 || question.step_time_s == 0 || step_s <= 1.02 * question.step_time_s)
      continue;
    return "a step of one worker takes " + std::to_string(step_s) +
           " s even without computing, not the step time of " +
           std::to_string(question.step_time_s) + " s";
  }
  return std::nullopt;
}

}  // namespace penstock::cluster
