#include "cli/prediction.h"

#include <cstdio>

#include "cli/args.h"
#include "cli/terminal.h"
#include "cluster/score.h"
#include "report/cluster_page.h"

namespace penstock::cli {
namespace {

using Json = nlohmann::ordered_json;

Json point_json(const cluster::Point& point, const Prediction& p) {
  Json out{{"workers", point.workers},
           {"servers", point.servers},
           {"steps_per_s", point.steps_per_s},
           {"batches", point.batches},
           {"low", point.low},
           {"high", point.high},
           {"binds", point.binds},
           {"use",
            {{"worker", point.worker_use},
             {"downlink", point.downlink_use},
             {"uplink", point.uplink_use},
             {"server", point.server_use},
             {"feed", point.feed_use},
             {"worker_link", point.worker_link_use}}},
           {"starved", point.starved},
           {"unfed_steps_per_s", point.unfed_steps_per_s}};
  if (p.examples > 0)
    out["examples_per_s"] = cluster::batches_per_s(point) * static_cast<double>(p.examples);
  if (p.prices) out["price_per_hour"] = cluster::price(point, *p.prices);
  return out;
}

// States the assumed payload rate of a host's link.
std::string payload_line(const char* host, double rate) {
  char out[96];
  std::snprintf(out, sizeof out, "payload rate of a %s's link: %.1f Mbit/s each way", host,
                rate * 8e-6);
  return out;
}

std::string note(const std::string& text) { return wrap("note: " + text, 80, 6); }

Json size_json(const cluster::Point& point) {
  return {{"workers", point.workers}, {"servers", point.servers}};
}

// Steps are of all workers: their number a second says nothing about the speed of the training.
bool counts_batches(const Prediction& p) { return p.question.mode != cluster::Mode::async; }

// All that is said of the sizes.
std::vector<std::string> all_advice(const Prediction& p, const cluster::Advice& advice) {
  std::vector<std::string> out = cluster::advice_lines(advice, p.prices, p.budget);
  if (p.question.feed.rate > 0) {
    for (std::string& line : cluster::feed_lines(p.points, p.question.feed))
      out.push_back(std::move(line));
  }
  if (!p.deadline) return out;
  const auto answer =
      cluster::meet(*p.deadline, p.points, static_cast<double>(p.examples), p.prices);
  for (std::string& line : cluster::deadline_lines(answer, *p.deadline, p.prices))
    out.push_back(std::move(line));
  return out;
}

Json between_json(const cluster::Between& b) {
  return {{"value", b.value}, {"low", b.low}, {"high", b.high}};
}

Json training_json(const std::optional<cluster::Training>& t) {
  if (!t) return nullptr;
  return {{"workers", t->point.workers},
          {"servers", t->point.servers},
          {"hours", between_json(t->hours)},
          {"cost", between_json(t->cost)}};
}

Json deadline_json(const Prediction& p) {
  const auto answer =
      cluster::meet(*p.deadline, p.points, static_cast<double>(p.examples), p.prices);
  return {{"examples", p.deadline->examples},
          {"within_s", p.deadline->within_s},
          {"cheapest", training_json(answer.cheapest)},
          {"sure", training_json(answer.sure)},
          {"fastest", training_json(answer.fastest)}};
}

Json score_json(const Prediction& p) {
  const cluster::Score score = cluster::score(p.points, p.measured);
  Json runs = Json::array();
  for (const cluster::ScoredRun& r : score.runs) {
    runs.push_back({{"workers", r.run.workers},
                    {"servers", r.run.servers},
                    {"steps_per_s", r.run.steps_per_s},
                    {"predicted_steps_per_s", r.predicted},
                    {"error", r.error},
                    {"inside", r.inside}});
  }
  const bool any = !score.runs.empty();
  return {{"runs", runs},
          {"mean_error", any ? Json(score.mean_error) : Json(nullptr)},
          {"inside", score.inside},
          {"of_other_sizes", score.others}};
}

}  // namespace

void print_head(const Prediction& p) {
  std::printf("%s\n", payload_line("server", p.question.rig.server_rate).c_str());
  if (p.question.rig.worker_rate > 0)
    std::printf("%s\n", payload_line("worker", p.question.rig.worker_rate).c_str());
  for (const std::string& n : p.notes) std::printf("%s\n", note(n).c_str());
  const std::string head = std::string("workers servers  steps/s   90 % interval   ") +
                           (counts_batches(p) ? "batches/s  " : "") + "efficiency  binds";
  std::printf("\n%s\n", paint(Stream::out, Style::bold, head).c_str());
  std::fflush(stdout);
}

void print_point(const cluster::Point& point, const Prediction& p) {
  // Efficiency is relative to the first size of the list.
  const double one = cluster::batches_per_s(p.points[0]) / p.points[0].workers;
  std::printf("%7d %7d %8.2f  ", point.workers, point.servers, point.steps_per_s);
  if (point.high > point.low) {
    std::printf("%6.2f..%-7.2f  ", point.low, point.high);
  } else {
    std::printf("%-15s  ", "   not known");  // a formula, or a rate that was given
  }
  if (counts_batches(p)) std::printf("%9.2f  ", cluster::batches_per_s(point));
  std::printf("%8.0f %%  %s\n", 100 * cluster::batches_per_s(point) / (one * point.workers),
              point.binds.c_str());
}

void print_advice(const Prediction& p, const std::optional<std::string>& late_note) {
  if (late_note) std::printf("\n%s\n", note(*late_note).c_str());
  std::printf("\n");
  for (const std::string& line : cluster::score_lines(cluster::score(p.points, p.measured)))
    std::printf("%s\n", wrap(line, 80, 2).c_str());
  if (!p.measured.empty()) std::printf("\n");
  const cluster::Advice advice = cluster::advise(p.points, p.prices, p.budget);
  for (const std::string& line : all_advice(p, advice))
    std::printf("%s\n", wrap(line, 80, 2).c_str());
  if (p.examples > 0) {
    const bool joint = p.points.back().batches > 1;
    std::printf("examples/s: steps/s times %lld%s\n", static_cast<long long>(p.examples),
                joint ? ", times the workers that a step counts" : "");
  }
}

Json prediction_json(const Prediction& p) {
  const cluster::Advice advice = cluster::advise(p.points, p.prices, p.budget);
  Json points = Json::array(), saturation = Json::array();
  for (const cluster::Point& point : p.points) points.push_back(point_json(point, p));
  for (const cluster::Saturation& s : advice.saturation) {
    const bool there = s.workers > 0;
    saturation.push_back({{"servers", s.servers},
                          {"workers", there ? Json(s.workers) : Json(nullptr)},
                          {"fewest", s.fewest > 0 ? Json(s.fewest) : Json(nullptr)},
                          {"most", s.most > 0 ? Json(s.most) : Json(nullptr)},
                          {"dip", s.dip > 0 ? Json(s.dip) : Json(nullptr)},
                          {"gain", there ? Json(s.gain) : Json(nullptr)},
                          {"binds", there ? Json(s.binds) : Json(nullptr)}});
  }
  const auto& cheap = advice.best_for_budget;
  const cluster::Feed& feed = p.question.feed;
  const Json fed{{"elements_per_s", feed.rate}, {"spread", feed.spread}, {"buffer", feed.buffer}};
  return {{"points", points},
          {"feed", feed.rate > 0 ? fed : Json(nullptr)},
          {"saturation", saturation},
          {"measured", p.measured.empty() ? Json(nullptr) : score_json(p)},
          {"best", size_json(advice.best)},
          {"best_for_budget", cheap ? size_json(*cheap) : Json(nullptr)},
          {"deadline", p.deadline ? deadline_json(p) : Json(nullptr)},
          {"advice", all_advice(p, advice)},
          {"payload_bytes_per_s", p.question.rig.server_rate},
          {"notes", p.notes}};
}

std::string prediction_page(const Prediction& p, const std::string& title) {
  const cluster::Advice advice = cluster::advise(p.points, p.prices, p.budget);
  std::vector<std::string> notes = p.notes;
  notes.insert(notes.begin(), payload_line("server", p.question.rig.server_rate));
  const cluster::Score score = cluster::score(p.points, p.measured);
  std::vector<std::string> advice_lines = all_advice(p, advice);
  if (!score.runs.empty()) advice_lines.push_back(cluster::score_lines(score)[score.runs.size()]);
  return cluster_page({title, p.points, score.runs, advice_lines, notes});
}

}  // namespace penstock::cli
