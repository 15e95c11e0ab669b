// penstock predict --html: one self-contained page that needs no network.
#pragma once

#include <string>
#include <vector>

#include "cluster/predict.h"
#include "cluster/score.h"

namespace penstock {

struct ClusterPage {
  std::string title;
  std::vector<cluster::Point> points;
  std::vector<cluster::ScoredRun> measured;
  std::vector<std::string> advice, notes;  // one line each
};

// Returns UTF-8; escapes every string of the page.
std::string cluster_page(const ClusterPage& page);
// Draws throughput by workers: a line for each number of servers, its interval as a band, measured
// runs as crosses.
std::string throughput_chart(const std::vector<cluster::Point>& points,
                             const std::vector<cluster::ScoredRun>& measured);

}  // namespace penstock
