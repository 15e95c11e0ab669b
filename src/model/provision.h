// The least machine that reaches a rate: cores, storage and memory, with and without caches.
//
// Needs are demands times the rate (utilisation law): cores = X sum D_i, storage = X times the
// bytes read per element. A memory cache after a stage takes away the demands of all stages below
// it and costs the stage's size in memory. Each division into cached and computed stages is an
// option; options that another one beats in every resource are left out. Exact for trees: the needs
// of the inputs of a stage add up. docs/model.md derives it.
#pragma once

#include <limits>
#include <vector>

#include "model/model.h"

namespace penstock {

struct Needs {
  double cores = 0;
  double disk_bytes_per_second = 0;
  double memory_bytes = 0;
};

// A way to reach the rate once caches are full.
struct ProvisionOption {
  Needs needs;
  Estimate cores;           // the same with its interval
  double cache_bytes = 0;   // part of the memory
  std::vector<int> cached;  // stages whose elements a cache holds; ascending
  double most_rate = 0;     // its slowest stage of one thread; infinite without one
  int slowest = -1;         // that stage
};

// Resources that there are.
struct Machine {
  double cores = std::numeric_limits<double>::infinity();
  double disk_bytes_per_second = std::numeric_limits<double>::infinity();
  double memory_bytes = std::numeric_limits<double>::infinity();

  bool has(const Needs& needs) const;
};

struct Provision {
  double rate = 0;                       // elements of the root per second, as asked for
  std::vector<ProvisionOption> options;  // that reach it, ascending by memory; the first has no
                                         // cache if any reaches the rate without
  ProvisionOption uncached;              // reaches the rate or not
  // For one element per second more, without a cache: the shadow prices of the rate.
  Needs per_element;
};

// REQUIRES rate > 0 and an analysis with elements.
Provision provision(const Analysis& analysis, double rate);

// The highest rate of an option on a machine, and what holds it.
struct Reachable {
  double rate = 0;
  enum class Binds : uint8_t { cores, disk, memory, stage, nothing } binds = Binds::nothing;
  int stage = -1;
};
// Considers every option that fits into the machine's memory. Without one the rate is 0 and memory
// binds.
Reachable reachable_rate(const Analysis& analysis, const Machine& machine);

}  // namespace penstock
