#include "report/cluster_page.h"

#include <algorithm>
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
  double x(double w) const { return kLeft + (kWidth - kLeft - kRight) * w / workers; }
  double y(double r) const { return kHeight - kBottom - (kHeight - kBottom - kTop) * r / rate; }
};

std::string axes(const Scale& scale) {
  std::string out;
  for (int k = 0; k <= 4; ++k) {
    const double rate = scale.rate * k / 4;
    out += print("<path d=\"M%.1f %.1fH%.1f\" stroke=\"#c3c2b7\" stroke-width=\"0.5\"/>", kLeft,
                 scale.y(rate), kWidth - kRight);
    out += print("<text class=\"small\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%.3g</text>\n",
                 kLeft - 6, scale.y(rate) + 4, rate);
    const double workers = scale.workers * k / 4;
    out += print("<text class=\"small\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%.3g</text>\n",
                 scale.x(workers), kHeight - kBottom + 18, workers);
  }
  out += print("<text class=\"small\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">workers</text>",
               (kLeft + kWidth - kRight) / 2, kHeight - 4);
  return out + print("<text class=\"small\" x=\"%.1f\" y=\"12\">steps/s</text>\n", 4.0);
}

std::string curve(const std::vector<const Point*>& points, const Scale& scale, const char* color) {
  std::string line, band, dots;
  for (const Point* p : points) {
    line += print("%s%.1f %.1f", line.empty() ? "M" : "L", scale.x(p->workers),
                  scale.y(p->steps_per_s));
    band += print("%s%.1f %.1f", band.empty() ? "M" : "L", scale.x(p->workers), scale.y(p->high));
    dots += print("<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\"><title>",
                  scale.x(p->workers), scale.y(p->steps_per_s), color);
    dots += print("%d worker%s: %.4g steps/s (%.4g to %.4g), ", p->workers,
                  p->workers == 1 ? "" : "s", p->steps_per_s, p->low, p->high) +
            escaped(p->binds) + " binds</title></circle>\n";
  }
  for (auto it = points.rbegin(); it != points.rend(); ++it)
    band += print("L%.1f %.1f", scale.x((*it)->workers), scale.y((*it)->low));
  const Point& last = *points.back();
  return "<path d=\"" + band + "Z\" fill=\"" + color + "\" opacity=\"0.15\"/>\n<path d=\"" + line +
         "\" fill=\"none\" stroke=\"" + color + "\" stroke-width=\"2\"/>\n" + dots +
         print("<text class=\"small\" x=\"%.1f\" y=\"%.1f\">", scale.x(last.workers) + 8,
               scale.y(last.steps_per_s) + 4) +
         (last.servers == 0 ? ""
                            : print("%d server%s", last.servers, last.servers == 1 ? "" : "s")) +
         "</text>\n";
}

std::string rows(const std::vector<Point>& points) {
  std::string out = "<section><h2>Sizes</h2><div class=\"scroll\"><table><thead><tr><th>Workers"
                    "</th><th>Servers</th><th>steps/s</th><th>90 % interval</th><th>Efficiency</th>"
                    "<th>worker</th><th>downlink</th><th>uplink</th><th>server</th><th "
                    "class=\"text\">Binds</th></tr></thead><tbody>\n";
  const double one = batches_per_s(points[0]) / points[0].workers;
  for (const Point& p : points) {
    const auto percent = [](double v) { return print("<td>%.0f %%</td>", 100 * v); };
    out += print("<tr><td>%d</td><td>%d</td><td>%.4g</td><td>%.4g to %.4g</td>", p.workers,
                 p.servers, p.steps_per_s, p.low, p.high);
    out += percent(one > 0 ? batches_per_s(p) / (one * p.workers) : 0) + percent(p.worker_use) +
           percent(p.downlink_use) + percent(p.uplink_use) + percent(p.server_use) +
           "<td class=\"text\">" + escaped(p.binds) + "</td></tr>\n";
  }
  return out + "</tbody></table></div></section>\n";
}

}  // namespace

std::string throughput_chart(const std::vector<Point>& points) {
  Scale scale;
  std::map<int32_t, std::vector<const Point*>> by_servers;
  for (const Point& p : points) {
    by_servers[p.servers].push_back(&p);
    scale.workers = std::max<double>(scale.workers, p.workers);
    scale.rate = std::max(p.high > 0 && points[0].high > 0 ? p.high : p.steps_per_s,
                          &p == points.data() ? 0 : scale.rate);
  }
  std::string out =
      print("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" "
            "style=\"font:12px sans-serif\" role=\"img\" aria-label=\"steps/s by workers\">\n",
            kWidth, kHeight) +
      axes(scale);
  size_t color = 0;
  for (auto& [servers, line] : by_servers) {
    std::ranges::stable_sort(line, {}, &Point::workers);
    out += curve(line, scale, kColors[color++ % std::size(kColors)]);
  }
  return out + "</svg>\n";
}

std::string cluster_page(const ClusterPage& page) {
  return "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
         "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
         "'unsafe-inline'\">"
         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"><title>" +
         escaped(page.title) + "</title>\n<style>" + kHtmlStyle +
         "</style></head><body><main>\n<h1>" + escaped(page.title) + "</h1>\n" +
         list_section("What to do", page.advice) + "<section><h2>Throughput</h2>" +
         throughput_chart(page.points) + "</section>\n" + rows(page.points) +
         list_section("What was assumed", page.notes) +
         "<footer>Made by penstock predict.</footer>\n</main></body></html>\n";
}

}  // namespace penstock
