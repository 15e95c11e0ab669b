#include "cluster/advice.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/error.h"
#include "base/json_mistake.h"

namespace penstock::cluster {
namespace {

constexpr double kHeldBack = 0.01;  // less is within the noise of the draws
constexpr double kSmallGain = 0.05;
constexpr double kAsGood = 0.01;

template <typename... Values>
std::string print(const char* format, Values... values) {
  char out[200];
  std::snprintf(out, sizeof out, format, values...);
  return out;
}

// Part of an interval by which neighbouring sizes err independently; the rest they share, and it
// cancels in a gain. With this part the range of Saturation held the size at which the measured
// curve saturates for 25 of 27 curves (the recordings and the rig, default constants); with 0.3
// for 19.
constexpr double kOwnError = 0.4;

// Speed of a point, moved by its own error towards an end of its interval: -1 low, 1 high, 0 none.
double speed_at(const Point& p, int end) {
  const double limit = end < 0 ? p.low : p.high;
  return (p.steps_per_s + (end == 0 ? 0 : kOwnError * (limit - p.steps_per_s))) * p.batches;
}

// Gain in speed of each worker added between two of the points; `end` 1 is the largest within the
// intervals, -1 the smallest.
double gain_between(const Point& from, const Point& to, int end) {
  const double before = speed_at(from, -end), after = speed_at(to, end);
  return before <= 0
             ? 0
             : std::pow(std::max(after, 0.0) / before, 1.0 / (to.workers - from.workers)) - 1;
}

// Index of the first point that brings little over the one before, as all later ones do, with its
// gain; none: {0, 0}. A dip alone is not the end: a second rank is the first that has to talk, and
// a third one may pay.
std::pair<size_t, double> knee(const std::vector<const Point*>& points, int end) {
  for (size_t k = 1; k < points.size(); ++k) {
    const Point& before = *points[k - 1];
    if (std::all_of(points.begin() + static_cast<ptrdiff_t>(k), points.end(),
                    [&](const Point* p) { return gain_between(before, *p, end) < kSmallGain; }))
      return {k, gain_between(before, *points[k], end)};
  }
  return {0, 0};
}

Saturation saturation_of(const std::vector<Point>& all, int32_t servers) {
  Saturation out;
  out.servers = servers;
  std::vector<const Point*> points;  // in rising order of workers
  for (const Point& p : all) {
    if (p.servers != servers) continue;
    out.batches |= p.batches > 1;
    if (points.empty() || p.workers > points.back()->workers) points.push_back(&p);
  }
  const auto size_at = [&](int end) {
    const size_t k = knee(points, end).first;
    return k == 0 ? 0 : points[k]->workers;
  };
  const auto [index, gain] = knee(points, 0);
  out.workers = size_at(0);
  out.fewest = size_at(-1);
  out.most = size_at(1);
  out.gain = gain;
  if (index != 0) out.binds = points[index]->binds;
  for (size_t k = 1; k < (index == 0 ? points.size() : index) && out.dip == 0; ++k) {
    const double more = gain_between(*points[k - 1], *points[k], 0);
    if (more < kSmallGain) out.dip = points[k]->workers, out.dip_gain = more;
  }
  return out;
}

std::string size_of(const Point& p) {
  const std::string out = hosts_of(p) + print(": %.4g steps/s", p.steps_per_s);
  return p.batches == 1 ? out : out + print(" of %d batches", p.batches);
}

std::string range_of(const Saturation& s) {
  if (s.fewest == s.most) return "";
  if (s.workers == 0) return print("; within the intervals worker %d may bring less", s.fewest);
  if (s.most == 0) return print("; within the intervals it is worker %d, or a later one", s.fewest);
  return print("; within the intervals it is one of the workers %d to %d", s.fewest, s.most);
}

std::string saturation_line(const Saturation& s) {
  std::string out;
  if (s.servers > 0)
    out = std::to_string(s.servers) + (s.servers == 1 ? " server: " : " servers: ");
  const char* const unit = s.batches ? " batches/s" : "";
  if (s.workers > 0) {
    out += print("worker %d brings %.1f %%, less than 5 %%%s%s; %s binds", s.workers, 100 * s.gain,
                 s.batches ? " more" : "", unit, s.binds.c_str());
  } else if (s.dip > 0) {
    out += s.dip_gain < 0 ? print("worker %d costs %.1f %%", s.dip, -100 * s.dip_gain)
                          : print("worker %d brings %.1f %%", s.dip, 100 * s.dip_gain);
    out += print("%s, but later ones bring 5 %% or more", unit);
  } else {
    out += print("every worker added brings 5 %% or more%s", unit);
  }
  return out + range_of(s);
}

// Returns the point with the fewest hosts among those nearly as fast as the fastest.
const Point* best_of(const std::vector<const Point*>& points) {
  double most = 0;
  for (const Point* p : points) most = std::max(most, batches_per_s(*p));
  const Point* out = nullptr;
  for (const Point* p : points) {
    if (batches_per_s(*p) < most * (1 - kAsGood)) continue;
    if (out == nullptr || p->workers + p->servers < out->workers + out->servers) out = p;
  }
  return out;
}

// Speed that input which never waits would add, as a share.
double held_back(const Point& p) {
  return p.steps_per_s > 0 ? p.unfed_steps_per_s / p.steps_per_s - 1 : 0;
}

// Says what to spend on where the input holds training back: `worst` is held back most.
std::string feed_remedy(const Point& worst, const Feed& feed) {
  const double needs = worst.unfed_steps_per_s * worst.batches / worst.workers;
  if (feed.rate < needs)
    return print("a worker's pipeline must make %.4g elements/s in place of %.4g", needs,
                 feed.rate);
  return print("%.4g elements/s suffice on average: a steadier pipeline or a longer buffer than %d "
               "would help, a faster one less",
               feed.rate, feed.buffer);
}

std::string feed_line(const std::vector<const Point*>& points, const Feed& feed) {
  const Point* worst = points[0];
  const Point* first_free = nullptr;  // the smallest size from which on none is held back
  for (const Point* p : points) {
    if (held_back(*p) > held_back(*worst)) worst = p;
    if (held_back(*p) > kHeldBack) {
      first_free = nullptr;
    } else if (first_free == nullptr) {
      first_free = p;
    }
  }
  std::string out;
  if (worst->servers > 0)
    out = std::to_string(worst->servers) + (worst->servers == 1 ? " server: " : " servers: ");
  if (held_back(*worst) <= kHeldBack)
    return out + "input costs no size more than 1 %: faster input brings nothing";
  out += print("with %d worker%s input costs %.1f %%, the most: ", worst->workers,
               worst->workers == 1 ? "" : "s", 100 * (1 - 1 / (1 + held_back(*worst)))) +
         feed_remedy(*worst, feed);
  if (first_free == nullptr) return out;
  return out + print("; from %d workers on it costs nothing, and ", first_free->workers) +
         first_free->binds + " binds";
}

}  // namespace

std::vector<std::string> feed_lines(const std::vector<Point>& points, const Feed& feed) {
  std::map<int32_t, std::vector<const Point*>> by_servers;
  for (const Point& p : points) by_servers[p.servers].push_back(&p);
  std::vector<std::string> out;
  for (auto& [servers, line] : by_servers) {
    std::ranges::stable_sort(line, {}, [](const Point* p) { return p->workers; });
    out.push_back(feed_line(line, feed));
  }
  return out;
}

Prices read_prices(const std::string& file, std::string_view json) {
  using Json = nlohmann::ordered_json;
  const std::string who = "prices: " + file + ": ";
  const Json parsed = Json::parse(json, nullptr, false);
  if (parsed.is_discarded())
    throw Error(Code::data_loss, who + "it is no JSON" + json_mistake(json));
  if (!parsed.is_object()) throw Error(Code::invalid_argument, who + "it is no object");
  Prices out;
  for (const auto& [key, value] : parsed.items()) {
    const bool amount = value.is_number() && value.get<double>() >= 0;
    if (key == "worker" && amount) {
      out.worker = value.get<double>();
    } else if (key == "server" && amount) {
      out.server = value.get<double>();
    } else if (key == "currency" && value.is_string()) {
      out.currency = value.get<std::string>();
    } else {
      throw Error(Code::invalid_argument,
                  who + key +
                      ": worker and server are prices an hour of at least 0, currency is a "
                      "text: " +
                      value.dump(-1, ' ', false, Json::error_handler_t::replace));
    }
  }
  if (out.worker == 0 && out.server == 0)
    throw Error(Code::invalid_argument,
                who + "worker or server must have a price of more than 0: all sizes are free");
  return out;
}

std::string hosts_of(const Point& p) {
  std::string out = std::to_string(p.workers) + (p.workers == 1 ? " worker" : " workers");
  if (p.servers > 0)
    out += ", " + std::to_string(p.servers) + (p.servers == 1 ? " server" : " servers");
  return out;
}

double price(const Point& point, const Prices& prices) {
  return point.workers * prices.worker + point.servers * prices.server;
}

Advice advise(const std::vector<Point>& points, const std::optional<Prices>& prices,
              double budget) {
  Advice out;
  std::vector<const Point*> all, affordable;
  for (const Point& p : points) {
    all.push_back(&p);
    if (prices && std::isfinite(budget) && price(p, *prices) <= budget) affordable.push_back(&p);
    const bool known = std::ranges::any_of(
        out.saturation, [&](const Saturation& s) { return s.servers == p.servers; });
    const auto sizes = std::ranges::count(points, p.servers, &Point::servers);
    if (!known && sizes > 1) out.saturation.push_back(saturation_of(points, p.servers));
  }
  out.best = *best_of(all);
  if (!affordable.empty()) out.best_for_budget = *best_of(affordable);
  return out;
}

std::vector<std::string> advice_lines(const Advice& advice, const std::optional<Prices>& prices,
                                      double budget) {
  std::vector<std::string> out;
  for (const Saturation& s : advice.saturation) out.push_back(saturation_line(s));
  out.push_back("best: " + size_of(advice.best));
  if (!prices || !std::isfinite(budget)) return out;
  const std::string currency = prices->currency.empty() ? "" : " " + prices->currency;
  const std::string limit = print("%.4g", budget) + currency;
  out.push_back(!advice.best_for_budget
                    ? "no size costs " + limit + " an hour or less"
                    : "best for " + limit + " an hour: " + size_of(*advice.best_for_budget) +
                          print(", %.4g", price(*advice.best_for_budget, *prices)) + currency +
                          " an hour");
  return out;
}

}  // namespace penstock::cluster
