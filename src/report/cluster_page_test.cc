#include "report/cluster_page.h"

#include <doctest/doctest.h>

#include <cmath>
#include <regex>

namespace penstock {
namespace {

using cluster::Point;

std::vector<Point> line(int32_t servers, int32_t most, double rate) {
  std::vector<Point> out;
  for (int32_t w = 1; w <= most; ++w) {
    Point p;
    p.workers = w;
    p.servers = servers;
    p.steps_per_s = rate * (1 - std::pow(0.5, w));
    p.low = 0.9 * p.steps_per_s;
    p.high = 1.1 * p.steps_per_s;
    p.binds = "uplink";
    out.push_back(p);
  }
  return out;
}

struct Text {
  double x, y;
  std::string anchor, text;
};

std::vector<Text> texts_of(const std::string& svg) {
  const std::regex text(
      R"re(<text class="small" x="([-0-9.]+)" y="([-0-9.]+)"(?: text-anchor="(\w+)")?>([^<]*)<)re");
  std::vector<Text> out;
  for (std::sregex_iterator at(svg.begin(), svg.end(), text), end; at != end; ++at)
    out.push_back({std::stod((*at)[1]), std::stod((*at)[2]), (*at)[3], (*at)[4]});
  return out;
}

// Left and right end of a text of 12 px, with the width of its widest letters.
std::pair<double, double> ends_of(const Text& t) {
  const double width = 7.2 * static_cast<double>(t.text.size());
  const double left = t.anchor == "end"      ? t.x - width
                      : t.anchor == "middle" ? t.x - width / 2
                                             : t.x;
  return {left, left + width};
}

TEST_CASE("cluster page: no text is cut off or lies on another, and ticks are whole workers") {
  for (const int32_t most : {1, 2, 5, 7, 8, 25, 100, 1000}) {
    for (const double rate : {0.0123, 7.0, 123456.0}) {
      std::vector<Point> points;
      for (const int32_t servers : {1, 2, 3, 4, 16}) {
        // Lines that end at nearly the same rate.
        const auto more = line(servers, most, rate * (1 + 0.001 * servers));
        points.insert(points.end(), more.begin(), more.end());
      }
      const std::vector<Text> texts = texts_of(throughput_chart(points, {}));
      INFO("workers ", most, " rate ", rate);
      CHECK(texts.size() > 9);
      for (size_t i = 0; i < texts.size(); ++i) {
        const auto [left, right] = ends_of(texts[i]);
        INFO(texts[i].text);
        CHECK(left >= 0);
        CHECK(right <= 720);
        CHECK(texts[i].y <= 340);
        CHECK(texts[i].y >= 10);
        for (size_t k = 0; k < i; ++k) {
          const auto [from, to] = ends_of(texts[k]);
          const bool beside = right < from || to < left;
          CHECK((beside || std::abs(texts[i].y - texts[k].y) >= 12));
        }
        if (texts[i].y == 318) CHECK(texts[i].text.find('.') == std::string::npos);
      }
    }
  }
}

TEST_CASE("cluster page: measured runs are crosses, at their size and rate") {
  std::vector<Point> points = line(1, 4, 10);
  cluster::ScoredRun run;
  run.run = {4, 1, 11};
  run.predicted = points[3].steps_per_s;
  const std::string svg = throughput_chart(points, {run});
  CHECK(svg.find("measured with 4 workers: 11 steps/s, predicted 9.375") != std::string::npos);
  CHECK(svg.find("M625.0 21.0L635.0 31.0M625.0 31.0L635.0 21.0") != std::string::npos);
}

TEST_CASE("cluster page: of steps of all workers it draws batches") {
  std::vector<Point> points = line(0, 4, 2);
  for (Point& p : points) p.batches = p.workers;
  cluster::ScoredRun run;
  run.run = {4, 0, 2};
  run.predicted = 1.875;
  const std::string page = cluster_page({"t", points, {run}, {}, {}});
  CHECK(page.find("steps/s by workers") == std::string::npos);
  CHECK(page.find("4 workers: 7.5 batches/s (6.75 to 8.25)") != std::string::npos);
  CHECK(page.find("measured with 4 workers: 8 batches/s, predicted 7.5") != std::string::npos);
  CHECK(page.find("<th>batches/s</th>") != std::string::npos);
  CHECK(page.find("<td>7.5</td>") != std::string::npos);
}

}  // namespace
}  // namespace penstock
