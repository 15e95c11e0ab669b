#include "cluster/advice.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json_mistake.h"

namespace penstock::cluster {
namespace {

constexpr double kSmallGain = 0.05;
constexpr double kAsGood = 0.01;

template <typename... Values>
std::string print(const char* format, Values... values) {
  char out[200];
  std::snprintf(out, sizeof out, format, values...);
  return out;
}

Saturation saturation_of(const std::vector<Point>& points, int32_t servers) {
  Saturation out;
  out.servers = servers;
  const Point* before = nullptr;
  for (const Point& p : points) {
    if (p.servers != servers) continue;
    out.batches |= p.batches > 1;
    if (before != nullptr && p.workers > before->workers && before->steps_per_s > 0) {
      // Gain in speed of each worker added between the two sizes.
      const double gain =
          std::pow(batches_per_s(p) / batches_per_s(*before), 1.0 / (p.workers - before->workers)) -
          1;
      if (gain < kSmallGain) {
        out.workers = p.workers;
        out.gain = gain;
        out.binds = p.binds;
        return out;
      }
    }
    before = &p;
  }
  return out;
}

std::string size_of(const Point& p) {
  std::string out = std::to_string(p.workers) + (p.workers == 1 ? " worker" : " workers");
  if (p.servers > 0)
    out += ", " + std::to_string(p.servers) + (p.servers == 1 ? " server" : " servers");
  out += print(": %.4g steps/s", p.steps_per_s);
  return p.batches == 1 ? out : out + print(" of %d batches", p.batches);
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

}  // namespace

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

double price(const Point& point, const Prices& prices) {
  return point.workers * prices.worker + point.servers * prices.server;
}

Advice advise(const std::vector<Point>& points, const std::optional<Prices>& prices,
              double budget) {
  Advice out;
  std::vector<const Point*> all, affordable;
  for (const Point& p : points) {
    all.push_back(&p);
    if (prices && price(p, *prices) <= budget) affordable.push_back(&p);
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
  for (const Saturation& s : advice.saturation) {
    const std::string with =
        s.servers == 0 ? ""
                       : std::to_string(s.servers) + (s.servers == 1 ? " server: " : " servers: ");
    out.push_back(
        with +
        (s.workers == 0
             ? print("every worker added brings 5 %% or more%s", s.batches ? " batches/s" : "")
             : print("worker %d brings %.1f %%, less than 5 %%%s; %s binds", s.workers,
                     100 * s.gain, s.batches ? " more batches/s" : "", s.binds.c_str())));
  }
  out.push_back("best: " + size_of(advice.best));
  if (!prices) return out;
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
