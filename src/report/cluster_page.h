// penstock predict --html: one self-contained page that needs no network.
#pragma once

#include <string>
#include <vector>

#include "cluster/predict.h"

namespace penstock {

struct ClusterPage {
  std::string title;
  std::vector<cluster::Point> points;
  std::vector<std::string> advice, notes;  // one line each
};

// UTF-8; every string of the page is escaped.
std::string cluster_page(const ClusterPage& page);
// Throughput by workers: a line for each number of servers, its interval as a band.
std::string throughput_chart(const std::vector<cluster::Point>& points);

}  // namespace penstock
