#include "report/cluster_page.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "report/html_style.h"
#include "report/html_text.h"

namespace penstock {
namespace {

using cluster::Point;

constexpr double kWidth = 720, kHeight = 340, kLeft = 60, kBottom = 40, kTop = 26, kRight = 90;
constexpr const char* kColors[] = {"#2a78d6", "#eb6834", "#008300", "#8a4fc8", "#b02a2a"};

struct Scale {
  double workers = 1, rate = 1;
  const char* unit = "steps/s";
  double x(double w) const { return kLeft + (kWidth - kLeft - kRight) * w / workers; }
  double y(double r) const { return kHeight - kBottom - (kHeight - kBottom - kTop) * r / rate; }
};

// The distance of two ticks: 1, 2 or 5 times a power of ten, for six ticks at most.
double tick_step(double range) {
  double power = std::pow(10, std::floor(std::log10(range)) - 1);
  for (;; power *= 10) {
    for (const double digit : {1, 2, 5}) {
      if (range <= 5 * digit * power) return digit * power;
    }
  }
}

std::string axes(const Scale& scale) {
  std::string out;
  const double rates = tick_step(scale.rate);
  for (int k = 0; k * rates <= scale.rate; ++k) {
    const double rate = k * rates;
    out += print("<path d=\"M%.1f %.1fH%.1f\" stroke=\"#8a8a80\" stroke-opacity=\"0.35\"/>", kLeft,
                 scale.y(rate), kWidth - kRight);
    out += print("<text class=\"small\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%.3g</text>\n",
                 kLeft - 6, scale.y(rate) + 4, rate);
  }
  const int step = static_cast<int>(std::max(1.0, tick_step(scale.workers)));
  for (int workers = 0; workers <= scale.workers; workers += step) {
    out += print("<text class=\"small\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%d</text>\n",
                 scale.x(workers), kHeight - kBottom + 18, workers);
  }
  out += print("<text class=\"small\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">workers</text>",
               (kLeft + kWidth - kRight) / 2, kHeight - 4);
  return out + print("<text class=\"small\" x=\"%.1f\" y=\"12\">%s</text>\n", 4.0, scale.unit);
}

std::string curve(const std::vector<const Point*>& points, const Scale& scale, const char* color) {
  std::string line, band, dots;
  for (const Point* p : points) {
    const int n = p->batches;
    line += print("%s%.1f %.1f", line.empty() ? "M" : "L", scale.x(p->workers),
                  scale.y(n * p->steps_per_s));
    band +=
        print("%s%.1f %.1f", band.empty() ? "M" : "L", scale.x(p->workers), scale.y(n * p->high));
    dots += print("<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\"><title>",
                  scale.x(p->workers), scale.y(n * p->steps_per_s), color);
    dots += print("%d worker%s: %.4g %s (%.4g to %.4g), ", p->workers, p->workers == 1 ? "" : "s",
                  n * p->steps_per_s, scale.unit, n * p->low, n * p->high) +
            escaped(p->binds) + " binds</title></circle>\n";
  }
  for (auto it = points.rbegin(); it != points.rend(); ++it)
    band += print("L%.1f %.1f", scale.x((*it)->workers), scale.y((*it)->batches * (*it)->low));
  return "<path d=\"" + band + "Z\" fill=\"" + color + "\" opacity=\"0.15\"/>\n<path d=\"" + line +
         "\" fill=\"none\" stroke=\"" + color + "\" stroke-width=\"2\"/>\n" + dots;
}

// Names of the lines at their ends, moved apart where they would overlap.
std::string labels(const std::vector<const Point*>& ends, const Scale& scale) {
  constexpr double kLine = 14;
  std::vector<std::pair<double, const Point*>> placed;
  for (const Point* p : ends) placed.emplace_back(scale.y(batches_per_s(*p)) + 4, p);
  std::ranges::stable_sort(placed, {}, &std::pair<double, const Point*>::first);
  for (size_t i = 1; i < placed.size(); ++i)
    placed[i].first = std::max(placed[i].first, placed[i - 1].first + kLine);
  double lowest = kHeight - kBottom;
  for (size_t i = placed.size(); i-- > 0; lowest = placed[i].first - kLine)
    placed[i].first = std::min(placed[i].first, lowest);
  std::string out;
  for (const auto& [y, p] : placed) {
    if (p->servers == 0) continue;
    out += print("<text class=\"small\" x=\"%.1f\" y=\"%.1f\">%d server%s</text>\n",
                 scale.x(p->workers) + 10, y, p->servers, p->servers == 1 ? "" : "s");
  }
  return out;
}

// A measured run of `batches` a step, a cross in the colour of its line.
std::string cross(const cluster::ScoredRun& r, int batches, const Scale& scale, const char* color) {
  constexpr double kArm = 5;
  const double x = scale.x(r.run.workers), y = scale.y(batches * r.run.steps_per_s);
  return print("<path d=\"M%.1f %.1fL%.1f %.1fM%.1f %.1fL%.1f %.1f\" ", x - kArm, y - kArm,
               x + kArm, y + kArm, x - kArm, y + kArm, x + kArm, y - kArm) +
         print("stroke=\"%s\" stroke-width=\"2\"><title>measured with %d worker%s: ", color,
               r.run.workers, r.run.workers == 1 ? "" : "s") +
         print("%.4g %s, predicted %.4g (%+.1f %%)</title></path>\n", batches * r.run.steps_per_s,
               scale.unit, batches * r.predicted, 100 * r.error);
}

// Steps of all workers: their number a second says nothing about the speed of the training.
bool is_joint(const std::vector<Point>& points) {
  return std::ranges::any_of(points, [](const Point& p) { return p.batches > 1; });
}

int batches_of(const cluster::ScoredRun& r, const std::vector<Point>& points) {
  const auto point = std::ranges::find_if(points, [&](const Point& p) {
    return p.workers == r.run.workers && p.servers == r.run.servers;
  });
  return point == points.end() ? 1 : point->batches;
}

std::string rows(const std::vector<Point>& points) {
  std::string out = "<section><h2>Sizes</h2><div class=\"scroll\"><table><thead><tr><th>Workers"
                    "</th><th>Servers</th><th>steps/s</th><th>90 % interval</th>";
  const bool joint = is_joint(points);
  if (joint) out += "<th>batches/s</th>";
  out += "<th>Efficiency</th><th>worker</th><th>downlink</th><th>uplink</th><th>server</th>"
         "<th class=\"text\">Binds</th></tr></thead><tbody>\n";
  const double one = batches_per_s(points[0]) / points[0].workers;
  for (const Point& p : points) {
    const auto percent = [](double v) { return print("<td>%.0f %%</td>", 100 * v); };
    out += print("<tr><td>%d</td><td>%d</td><td>%.4g</td><td>%.4g to %.4g</td>", p.workers,
                 p.servers, p.steps_per_s, p.low, p.high);
    if (joint) out += print("<td>%.4g</td>", batches_per_s(p));
    out += percent(one > 0 ? batches_per_s(p) / (one * p.workers) : 0) + percent(p.worker_use) +
           percent(p.downlink_use) + percent(p.uplink_use) + percent(p.server_use) +
           "<td class=\"text\">" + escaped(p.binds) + "</td></tr>\n";
  }
  return out + "</tbody></table></div></section>\n";
}

}  // namespace

std::string throughput_chart(const std::vector<Point>& points,
                             const std::vector<cluster::ScoredRun>& measured) {
  Scale scale;
  if (is_joint(points)) scale.unit = "batches/s";
  std::map<int32_t, std::vector<const Point*>> by_servers;
  for (const Point& p : points) {
    by_servers[p.servers].push_back(&p);
    scale.workers = std::max<double>(scale.workers, p.workers);
    scale.rate =
        std::max(p.batches * std::max(p.high, p.steps_per_s), &p == points.data() ? 0 : scale.rate);
  }
  for (const cluster::ScoredRun& r : measured)
    scale.rate = std::max(scale.rate, batches_of(r, points) * r.run.steps_per_s);
  if (scale.rate <= 0) scale.rate = 1;
  std::string out =
      print("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" "
            "style=\"font:12px sans-serif\" role=\"img\" aria-label=\"%s by workers\">\n",
            kWidth, kHeight, scale.unit) +
      axes(scale);
  size_t next = 0;
  std::vector<const Point*> ends;
  for (auto& [servers, line] : by_servers) {
    const char* const color = kColors[next++ % std::size(kColors)];
    std::ranges::stable_sort(line, {}, &Point::workers);
    out += curve(line, scale, color);
    for (const cluster::ScoredRun& r : measured) {
      if (r.run.servers == servers) out += cross(r, batches_of(r, points), scale, color);
    }
    ends.push_back(line.back());
  }
  return out + labels(ends, scale) + "</svg>\n";
}

std::string cluster_page(const ClusterPage& page) {
  return "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
         "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
         "'unsafe-inline'\">"
         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"><title>" +
         escaped(page.title) + "</title>\n<style>" + kHtmlStyle +
         "</style></head><body><main>\n<h1>" + escaped(page.title) + "</h1>\n" +
         list_section("What to do", page.advice) + "<section><h2>Throughput</h2>" +
         throughput_chart(page.points, page.measured) + "</section>\n" + rows(page.points) +
         list_section("What was assumed", page.notes) +
         "<footer>Made by penstock predict.</footer>\n</main></body></html>\n";
}

}  // namespace penstock
