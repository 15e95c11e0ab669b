#include "report/profile_page.h"

#include <algorithm>
#include <vector>

#include "report/html_style.h"
#include "report/html_text.h"

namespace penstock {
namespace {

using cluster::Inspection;
using cluster::Slice;

constexpr double kWidth = 720, kLane = 64, kLeft = 90, kRight = 110;

struct Phase {
  const char* name;
  double Slice::* value;
  const char* color;
  double unit;
  const char* unit_name;
};
constexpr Phase kPhases[] = {{"downlink", &Slice::downlink_rate, "#2a78d6", 1e6, "MB/s"},
                             {"worker", &Slice::worker_use, "#008300", 1, "ops at once"},
                             {"uplink", &Slice::uplink_rate, "#eb6834", 1e6, "MB/s"},
                             {"server", &Slice::server_use, "#8a4fc8", 1, "ops at once"}};

// Draws a lane for each phase, scaled to its maximum.
std::string phases(const Inspection& found) {
  const double bottom = kLane * static_cast<double>(std::size(kPhases));
  std::string out =
      print("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" style=\"font:12px "
            "sans-serif\" role=\"img\" aria-label=\"phases of the replayed step\">\n",
            kWidth, bottom + 24);
  const auto n = static_cast<double>(std::max<size_t>(1, found.slices.size()));
  const double column = (kWidth - kLeft - kRight) / n;
  double y = 0;
  for (const Phase& p : kPhases) {
    y += kLane;
    double most = 0;
    for (const Slice& s : found.slices) most = std::max(most, s.*p.value);
    out += print("<text class=\"small\" x=\"0\" y=\"%.1f\">%s</text>", y - kLane / 2, p.name) +
           print("<path d=\"M%.1f %.1fH%.1f\" stroke=\"#c3c2b7\" stroke-width=\"0.5\"/>", kLeft, y,
                 kWidth - kRight);
    std::string path = print("M%.1f %.1f", kLeft, y);
    for (size_t k = 0; most > 0 && k < found.slices.size(); ++k) {
      const double top = y - (kLane - 10) * (found.slices[k].*p.value) / most;
      path += print("V%.1fH%.1f", top, kLeft + column * static_cast<double>(k + 1));
    }
    out += "<path d=\"" + path + print("V%.1fZ\" fill=\"%s\"/>", y, p.color) +
           print("<text class=\"small\" x=\"%.1f\" y=\"%.1f\">%.3g %s</text>\n",
                 kWidth - kRight + 8, y - kLane + 20, most / p.unit, p.unit_name);
  }
  for (int k = 0; k <= 4; ++k) {
    out += print(
        "<text class=\"small\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%.3g ms</text>",
        kLeft + (kWidth - kLeft - kRight) * k / 4, bottom + 18, found.slice_s * n * k / 4 * 1e3);
  }
  return out + "</svg>\n";
}

std::string resources(const Inspection& found) {
  std::string out = "<section><h2>A step, mean over the steps</h2><div class=\"scroll\"><table>"
                    "<thead><tr><th class=\"text\">Resource</th><th>ops</th><th>bytes</th><th>"
                    "seconds</th><th>recorded</th></tr></thead><tbody>\n";
  for (size_t i = 0; i < found.by_resource.size(); ++i) {
    const auto& r = found.by_resource[i];
    if (r.ops == 0) continue;
    out += "<tr><td class=\"text\">" +
           std::string(resource_name(static_cast<cluster::Resource>(i))) + "</td>" +
           print("<td>%.1f</td><td>%.0f</td><td>%.4f</td>", r.ops, r.bytes, r.seconds) +
           (r.first_s < 0 ? std::string("<td></td>")
                          : print("<td>%.4f to %.4f s</td>", r.first_s, r.last_s)) +
           "</tr>\n";
  }
  return out + "</tbody></table></div></section>\n";
}

std::string counted(size_t n, const char* what) {
  return print("%zu %s%s", n, what, n == 1 ? "" : "s");
}

}  // namespace

std::string profile_page(const cluster::Profile& profile, const Inspection& found, double rate) {
  const std::string title = escaped("What " + profile.source + " holds");
  std::vector<std::string> facts{
      counted(profile.steps.size(), "step") + ", " +
          counted(static_cast<size_t>(profile.servers), "server") + ", " +
          counted(static_cast<size_t>(found.lanes), "lane") + " of a worker",
      print("one worker alone, replayed with links of %.1f Mbit/s of payload: %.4f s a step",
            rate * 8e-6, found.replay_s),
      print("longest chain: %.4f s transfers, %.4f s worker, %.4f s server",
            found.critical_transfer_s, found.critical_worker_s, found.critical_server_s),
      print("hidden behind computing: %.0f %% of the transfer time", 100 * found.hidden_share)};
  const bool ranks = found.two_ranks_s > 0;
  if (ranks) {
    facts.insert(
        facts.begin() + 2,
        print("two ranks, replayed: %.4f s a step; transfers are theirs", found.two_ranks_s));
  }
  return "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
         "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
         "'unsafe-inline'\">"
         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"><title>" +
         title + "</title>\n<style>" + kHtmlStyle + "</style></head><body><main>\n<h1>" + title +
         "</h1>\n<section><h2>The replayed step" + (ranks ? " of one of two ranks" : "") + "</h2>" +
         phases(found) + "</section>\n" + list_section("In figures", facts) + resources(found) +
         list_section("What is missing", found.missing) +
         list_section("What was assumed", profile.notes) +
         "<footer>Made by penstock profile inspect.</footer>\n</main></body></html>\n";
}

}  // namespace penstock
