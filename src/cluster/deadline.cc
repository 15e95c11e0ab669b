#include "cluster/deadline.h"

#include <cstdio>
#include <tuple>

namespace penstock::cluster {
namespace {

constexpr double kSecondsPerHour = 3600;

template <typename... Values>
std::string print(const char* format, Values... values) {
  char out[200];
  std::snprintf(out, sizeof out, format, values...);
  return out;
}

Training training_on(const Point& p, double batches, const std::optional<Prices>& prices) {
  const auto hours = [&](double steps_per_s) {
    return batches / (steps_per_s * p.batches) / kSecondsPerHour;
  };
  const double per_hour = prices ? price(p, *prices) : p.workers + p.servers;
  Training out{p, {hours(p.steps_per_s), hours(p.high), hours(p.low)}, {}};
  out.cost = {out.hours.value * per_hour, out.hours.low * per_hour, out.hours.high * per_hour};
  return out;
}

bool is_cheaper(const Training& a, const Training& b) {
  return std::tie(a.cost.value, a.hours.value) < std::tie(b.cost.value, b.hours.value);
}

std::string between(const Between& b, const std::string& unit) {
  const std::string range = b.low < b.high ? print(" (%.3g to %.3g)", b.low, b.high) : "";
  return print("%.3g", b.value) + unit + range;
}

std::string words(const Training& t, const std::optional<Prices>& prices) {
  std::string unit = " hours of hosts";
  if (prices) unit = prices->currency.empty() ? "" : " " + prices->currency;
  return hosts_of(t.point) + ", " + between(t.hours, " h") + ", " + between(t.cost, unit);
}

}  // namespace

DeadlineAnswer meet(const Deadline& deadline, const std::vector<Point>& points,
                    double examples_per_batch, const std::optional<Prices>& prices) {
  DeadlineAnswer out;
  const double most_hours = deadline.within_s / kSecondsPerHour;
  const auto keep = [](std::optional<Training>* best, const Training& t) {
    if (!*best || is_cheaper(t, **best)) *best = t;
  };
  bool first = true;
  for (const Point& p : points) {
    const Training t = training_on(p, deadline.examples / examples_per_batch, prices);
    if (t.hours.value <= most_hours) keep(&out.cheapest, t);
    if (t.hours.high <= most_hours) keep(&out.sure, t);
    if (first || t.hours.value < out.fastest.hours.value) out.fastest = t;
    first = false;
  }
  return out;
}

std::vector<std::string> deadline_lines(const DeadlineAnswer& answer, const Deadline& deadline,
                                        const std::optional<Prices>& prices) {
  const std::string what =
      print("%.10g examples in %.4g h: ", deadline.examples, deadline.within_s / kSecondsPerHour);
  if (!answer.cheapest)
    return {what + "no predicted size; the fastest: " + words(answer.fastest, prices)};
  std::vector<std::string> out{what + words(*answer.cheapest, prices)};
  const Point& cheap = answer.cheapest->point;
  if (!answer.sure) {
    out.push_back("no predicted size meets this at the slow end of its interval");
  } else if (std::tie(answer.sure->point.workers, answer.sure->point.servers) !=
             std::tie(cheap.workers, cheap.servers)) {
    out.push_back("at the slow end of its interval too: " + words(*answer.sure, prices));
  }
  return out;
}

}  // namespace penstock::cluster
