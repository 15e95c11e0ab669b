#include "cluster/optimus.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"
#include "base/json_mistake.h"

namespace penstock::cluster {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kTerms = 4;
constexpr int32_t kMostHosts = 10'000;
constexpr double kSingular = 1e-9;
constexpr double kBetter = 1e-12;  // an additional term must improve the fit by this much

using Row = std::array<double, kTerms>;

// Rows of relative errors: a worker's step time divided by its measured time should be 1.
std::vector<Row> rows_of(const std::vector<MeasuredRun>& runs) {
  std::vector<Row> out;
  for (const MeasuredRun& r : runs) {
    const double w = r.workers, m = r.servers, step_s = w / r.steps_per_s;
    out.push_back({1 / step_s, w / m / step_s, w / step_s, m / step_s});
  }
  return out;
}

// Solves least squares with the terms of `used` only: normal equations, Gaussian elimination with
// pivots. Returns false if the terms are not independent.
bool solve(const std::vector<Row>& rows, const std::vector<size_t>& used, Row* out) {
  const size_t n = used.size();
  std::vector<std::vector<double>> a(n, std::vector<double>(n + 1, 0));
  for (const Row& row : rows) {
    for (size_t i = 0; i < n; ++i) {
      for (size_t j = 0; j < n; ++j) a[i][j] += row[used[i]] * row[used[j]];
      a[i][n] += row[used[i]];
    }
  }
  for (size_t k = 0; k < n; ++k) {
    const double scale = a[k][k];
    size_t pivot = k;
    for (size_t i = k + 1; i < n; ++i)
      if (std::fabs(a[i][k]) > std::fabs(a[pivot][k])) pivot = i;
    if (std::fabs(a[pivot][k]) <= kSingular * std::max(1.0, std::fabs(scale))) return false;
    std::swap(a[k], a[pivot]);
    for (size_t i = 0; i < n; ++i) {
      if (i == k) continue;
      const double factor = a[i][k] / a[k][k];
      for (size_t j = k; j <= n; ++j) a[i][j] -= factor * a[k][j];
    }
  }
  out->fill(0);
  for (size_t k = 0; k < n; ++k) (*out)[used[k]] = a[k][n] / a[k][k];
  return true;
}

double squares(const std::vector<Row>& rows, const Row& t) {
  double out = 0;
  for (const Row& row : rows) {
    double relative = -1;
    for (size_t i = 0; i < kTerms; ++i) relative += row[i] * t[i];
    out += relative * relative;
  }
  return out;
}

}  // namespace

std::vector<MeasuredRun> read_runs(const std::string& file, std::string_view json) {
  const std::string who = "runs: " + file + ": ";
  const Json parsed = Json::parse(json, nullptr, false);
  if (parsed.is_discarded())
    throw Error(Code::data_loss, who + "it is no JSON" + json_mistake(json));
  if (!parsed.is_array()) throw Error(Code::invalid_argument, who + "it is no list of runs");
  std::vector<MeasuredRun> out;
  for (const Json& run : parsed) {
    const std::string where = who + "run " + std::to_string(out.size()) + ": ";
    const auto number = [&](const char* key, double fallback) {
      const auto it = run.is_object() ? run.find(key) : run.end();
      if (!run.is_object() || (it != run.end() && !it->is_number()))
        throw Error(Code::invalid_argument, where + key + " must be a number");
      return it == run.end() ? fallback : it->get<double>();
    };
    const double workers = number("workers", 0), servers = number("servers", 1);
    const double rate = number("steps_per_s", 0);
    if (!(workers >= 1 && workers <= kMostHosts && servers >= 1 && servers <= kMostHosts &&
          rate > 0 && std::isfinite(rate)))
      throw Error(Code::invalid_argument,
                  where + "workers and servers must be from 1 to 10000, steps_per_s positive");
    out.push_back({static_cast<int32_t>(workers), static_cast<int32_t>(servers), rate});
  }
  return out;
}

OptimusFit fit_optimus(const std::vector<MeasuredRun>& runs) {
  std::set<std::pair<int32_t, int32_t>> sizes;
  for (const MeasuredRun& r : runs) sizes.insert({r.workers, r.servers});
  if (sizes.size() < 2)
    throw Error(
        Code::invalid_argument,
        "predict: optimus is fitted to runs of two sizes or more: " + std::to_string(sizes.size()));
  // In the best non-negative fit some terms are 0 and the others solve the equations: try all
  // subsets.
  const std::vector<Row> rows = rows_of(runs);
  OptimusFit best{};
  double least = std::numeric_limits<double>::infinity();
  for (const size_t terms : {1, 2, 3, 4}) {
    for (uint32_t mask = 1; mask < 1U << kTerms; ++mask) {
      std::vector<size_t> used;
      for (size_t i = 0; i < kTerms; ++i)
        if ((mask >> i & 1U) != 0) used.push_back(i);
      Row t{};
      if (used.size() != terms || !solve(rows, used, &t)) continue;
      if (std::ranges::any_of(t, [](double x) { return x < 0; })) continue;
      const double found = squares(rows, t);
      if (found >= least - kBetter) continue;
      least = found;
      best = t;
    }
  }
  return best;
}

std::vector<Point> optimus_points(const OptimusFit& fit, int32_t servers,
                                  const Question& question) {
  std::vector<Point> out;
  for (const int32_t w : question.workers) {
    const double m = servers;
    Point p;
    p.workers = w;
    p.servers = servers;
    p.steps_per_s = p.low = p.high = w / (fit[0] + fit[1] * w / m + fit[2] * w + fit[3] * m);
    // A term that grows with the workers is queueing; the fit cannot say at which link.
    p.binds = (fit[1] / m + fit[2]) * w > fit[0] + fit[3] * m ? "server" : "worker";
    out.push_back(p);
  }
  return out;
}

}  // namespace penstock::cluster
