#include "cluster/coarse.h"

#include <algorithm>

namespace penstock::cluster {
namespace {

// Returns the mean seconds for which a step alone keeps each link busy; links as in network.h.
std::vector<double> link_seconds(const Profile& profile, double rate) {
  std::vector<double> out(2 * static_cast<size_t>(profile.servers), 0);
  for (const Step& step : profile.steps) {
    for (const Op& op : step.ops) {
      if (!is_transfer(op.resource)) continue;
      const size_t link =
          2 * static_cast<size_t>(op.server) + (op.resource == Resource::uplink ? 1 : 0);
      out[link] += static_cast<double>(op.bytes) / rate;
    }
  }
  for (double& s : out) s /= static_cast<double>(profile.steps.size());
  return out;
}

// Returns the rate by mean value analysis of a closed network: links are queues, the rest of the
// step is a delay.
double lin(const std::vector<double>& demand_s, double think_s, int32_t workers) {
  std::vector<double> length(demand_s.size(), 0);
  double rate = 0;
  for (int32_t w = 1; w <= workers; ++w) {
    double round_s = think_s;
    for (size_t l = 0; l < demand_s.size(); ++l) round_s += demand_s[l] * (1 + length[l]);
    rate = w / round_s;
    for (size_t l = 0; l < demand_s.size(); ++l) length[l] = rate * demand_s[l] * (1 + length[l]);
  }
  return rate;
}

}  // namespace

std::vector<Point> coarse_points(const Profile& profile, const Question& question, double step_s) {
  const std::vector<double> links = link_seconds(profile, question.rig.server_rate);
  const auto fullest = std::ranges::max_element(links);
  double sum_s = 0;
  for (const double s : links) sum_s += s;
  const double think_s = std::max(0.0, step_s - sum_s);
  std::vector<Point> out;
  for (const int32_t w : question.workers) {
    Point p;
    p.workers = w;
    p.servers = profile.servers;
    if (question.model == Model::lin) {
      p.steps_per_s = lin(links, think_s, w);
    } else if (question.model == Model::cynthia) {
      const double use = *fullest / step_s;
      p.steps_per_s = w / (think_s * std::max(1.0, w * use) + sum_s);
    } else {
      p.steps_per_s = w / std::max(step_s, w * *fullest);
    }
    p.low = p.high = p.steps_per_s;
    const bool link = w * *fullest > step_s;
    p.binds = !link ? "worker" : (fullest - links.begin()) % 2 == 0 ? "downlink" : "uplink";
    out.push_back(p);
  }
  return out;
}

}  // namespace penstock::cluster
