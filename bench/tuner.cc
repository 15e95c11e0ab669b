// Compares policies of the live tuner on simulated pipelines, in virtual time. Prints one JSON
// object: for each number of cores and each policy the share of the best setting's rate at the
// lowest tenth and at the median, the median of the most bytes held ahead, of the changes of
// values, and of the seconds until 90 % of the own plateau. Up to 4 cores all settings are tried
// for the best; above, the best is the highest rate of any policy.
//
// bench_tuner [--tiny] [SEED]

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>

#include "optimizer/rival_policies.h"
#include "optimizer/simulated_pipeline.h"

namespace penstock {
namespace {

struct Rated {
  const char* name;
  std::function<std::unique_ptr<TunerPolicy>()> make;
};

struct Figures {
  std::vector<double> rate, bytes, changes, seconds;
};

double quantile(std::vector<double> values, double q) {
  std::ranges::sort(values);
  return values[static_cast<size_t>(q * static_cast<double>(values.size() - 1))];
}

double plateau_seconds(const SimulatedRun& run, double plateau) {
  double out = run.seconds;
  for (double at = run.seconds - 0.5; at >= 0 && run.rate(at, at + 0.5) >= 0.9 * plateau; at -= 0.1)
    out = at;
  return out;
}

void compare(int cores, int pipelines, uint64_t seed, bool last) {
  constexpr double kSeconds = 20, kExhaustiveSeconds = 2;
  constexpr int kExhaustiveCores = 4;
  const Rated policies[] = {{"live", live_policy},
                            {"naive", [] { return std::unique_ptr<TunerPolicy>(); }},
                            {"heuristic", heuristic_policy},
                            {"local", local_policy},
                            {"random_walk", [&] { return random_walk_policy(seed); }},
                            {"autotune_hill_climb", [] { return autotune_policy(false); }},
                            {"autotune_max_parallelism", [] { return autotune_policy(true); }}};
  std::vector<Figures> figures(std::size(policies));
  for (int i = 0; i < pipelines; ++i) {
    const SimulatedPipeline p = drawn_pipeline(seed + static_cast<uint64_t>(i), cores);
    double best = cores <= kExhaustiveCores ? exhaustive_rate(p, kExhaustiveSeconds) : 0;
    std::vector<double> rates;
    for (size_t k = 0; k < std::size(policies); ++k) {
      const auto policy = policies[k].make();
      const SimulatedRun run = simulate(p, policy.get(), kSeconds);
      rates.push_back(run.rate(kSeconds / 2, kSeconds));
      figures[k].bytes.push_back(run.most_bytes);
      figures[k].changes.push_back(static_cast<double>(run.changes));
      figures[k].seconds.push_back(plateau_seconds(run, rates.back()));
    }
    if (cores > kExhaustiveCores) best = std::ranges::max(rates);
    for (size_t k = 0; k < rates.size(); ++k) figures[k].rate.push_back(rates[k] / best);
  }
  std::printf(" \"%d_cores\": {\n", cores);
  for (size_t k = 0; k < std::size(policies); ++k) {
    const Figures& f = figures[k];
    std::printf("  \"%s\": {\"share_of_best_10_percent\": %.3f, \"share_of_best_median\": %.3f, "
                "\"bytes_median\": %.0f, \"changes_median\": %.0f, \"seconds_median\": %.1f}%s\n",
                policies[k].name, quantile(f.rate, 0.1), quantile(f.rate, 0.5),
                quantile(f.bytes, 0.5), quantile(f.changes, 0.5), quantile(f.seconds, 0.5),
                k + 1 < std::size(policies) ? "," : "");
  }
  std::printf(" }%s\n", last ? "" : ",");
}

int run(bool tiny, uint64_t seed) {
  std::printf("{\n");
  const std::vector<int> cores = tiny ? std::vector<int>{2} : std::vector<int>{2, 4, 16, 96};
  for (const int n : cores) compare(n, tiny ? 2 : 40, seed, n == cores.back());
  std::printf("}\n");
  return 0;
}

}  // namespace
}  // namespace penstock

int main(int argc, char** argv) {
  bool tiny = false;
  uint64_t seed = 1;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--tiny") == 0)
      tiny = true;
    else
      seed = std::strtoull(argv[i], nullptr, 10);
  }
  return penstock::run(tiny, seed);
}
