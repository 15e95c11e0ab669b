#include "model/provision.h"

#include <doctest/doctest.h>

#include <array>

#include "base/error.h"
#include "model/made_stage_test.h"
#include "model/prices.h"
#include "trace/thread_groups.h"

namespace penstock {
namespace {

// 10 s of tfrecord | map | map | batch. `seconds` are those of the four, the batch's first.
Trace made_trace(std::array<double, 4> seconds, std::array<int64_t, 4> bytes, int64_t bytes_read) {
  Trace t;
  t.options = {4, int64_t{1} << 40, 4096};
  t.interval = {10, 0, 100, 0.1, 1, 0, true, false};
  t.peak_memory_bytes = 1'000'000'000;
  t.stages = {
      made_stage(0, "batch", {1}, 100, seconds[0]), made_stage(1, "map", {2}, 100, seconds[1]),
      made_stage(2, "map", {3}, 100, seconds[2]), made_stage(3, "tfrecord", {}, 100, seconds[3])};
  for (size_t i = 0; i < 4; ++i) {
    t.stages[i].bytes = bytes[i];
    t.interval.process_cpu_seconds += seconds[i];
  }
  t.stages[1].can_parallel = t.stages[2].can_parallel = t.stages[3].can_parallel = true;
  t.stages[3].bytes_read = t.stages[3].source_bytes = bytes_read;
  set_thread_groups(guess_handed_over(t.stages), &t.stages);
  return t;
}

TEST_CASE("15 MB and half a core per minibatch at 30/s need 450 MB/s and 15 cores") {
  // Plumber, section 4.1.
  const Analysis a = analyze(made_trace({0, 40, 5, 5}, {1, 1, 1, 1}, 1'500'000'000));
  const Provision p = provision(a, 30);
  CHECK(p.uncached.needs.cores == doctest::Approx(15));
  CHECK(p.uncached.needs.disk_bytes_per_second == doctest::Approx(450e6));
  CHECK(p.per_element.cores == doctest::Approx(0.5));
  const Reachable there = reachable_rate(a, {15, 450e6, 1e9});
  CHECK(there.rate == doctest::Approx(30));
  CHECK(reachable_rate(a, {10, 450e6, 1e9}).binds == Reachable::Binds::cores);
  CHECK(reachable_rate(a, {15, 150e6, 1e9}).rate == doctest::Approx(10));
  CHECK(reachable_rate(a, {15, 150e6, 1e9}).binds == Reachable::Binds::disk);
  CHECK(reachable_rate(a, {15, 450e6, 1e6}).binds == Reachable::Binds::memory);
}

constexpr int64_t kGb = 1'000'000'000;

// Decoded images are 790 GB, records 148 GB.
Analysis imagenet() {
  Trace t = made_trace({1, 3, 40, 6}, {800 * kGb, 790 * kGb, 790 * kGb, 148 * kGb}, 148 * kGb);
  t.stages[1].random = true;  // a crop
  return analyze(t);
}

TEST_CASE("of 790 GB decoded and 148 GB of records, 300 GB of memory take the records") {
  // Plumber, section 5.
  const Provision p = provision(imagenet(), 49);
  REQUIRE(p.options.size() == 3);
  CHECK(p.options[0].cached.empty());
  CHECK(p.options[1].cached == std::vector{3});
  CHECK(p.options[1].cache_bytes == doctest::Approx(148e9));
  CHECK(p.options[1].needs.disk_bytes_per_second == 0);
  CHECK(p.options[1].needs.cores == doctest::Approx(49 * 0.44));
  CHECK(p.options[2].cached == std::vector{2});
  CHECK(p.options[2].cache_bytes == doctest::Approx(790e9));
  CHECK(p.options[2].needs.cores == doctest::Approx(49 * 0.04));
  Machine machine;
  machine.memory_bytes = 300e9;
  CHECK(machine.has(p.options[1].needs));
  CHECK_FALSE(machine.has(p.options[2].needs));
}

TEST_CASE("a cache behind a random stage is no option") {
  Trace t = made_trace({0, 3, 40, 6}, {800 * kGb, 790 * kGb, 790 * kGb, 148 * kGb}, 148 * kGb);
  t.stages[2].random = true;
  const Analysis a = analyze(t);
  const Provision p = provision(a, 50);
  REQUIRE(p.options.size() == 2);
  CHECK(p.options[1].cached == std::vector{3});
  CHECK(reachable_rate(a, {64, 100e6, 300e9}).rate == doctest::Approx(64 / 0.43));
}

TEST_CASE("a stage of one thread is a rate that no machine exceeds, but a cache above it does") {
  Trace t = made_trace({0, 1, 20, 5}, {1000, 1000, 1000, 5000}, 5000);
  t.stages[2].can_parallel = false;
  set_thread_groups(guess_handed_over(t.stages), &t.stages);
  const Analysis a = analyze(t);
  const Provision p = provision(a, 6);  // the second map gives 5/s
  CHECK(p.uncached.most_rate == doctest::Approx(5));
  CHECK(p.uncached.slowest == 2);
  REQUIRE_FALSE(p.options.empty());
  for (const ProvisionOption& o : p.options) CHECK_FALSE(o.cached.empty());
  t.stages[1].random = t.stages[2].random = true;
  CHECK(provision(analyze(t), 6).options.empty());
  const Reachable there = reachable_rate(analyze(t), {});
  CHECK(there.binds == Reachable::Binds::stage);
  CHECK(there.stage == 2);
  CHECK(there.rate == doctest::Approx(5));
}

TEST_CASE("no other machine of a finite set is cheaper") {
  // 25 cores and 73 GB/s, 22 cores and 148 GB, or 2 cores and 790 GB.
  const Provision p = provision(imagenet(), 49);
  const Prices units = parse_prices("p", R"({"core": 1, "memory_gb": 0.1, "disk_mb_s": 0.001})");
  const auto bought = cheapest(p, units);
  REQUIRE(bought);
  CHECK(bought->option == 1);
  CHECK(bought->price == doctest::Approx(22 + 0.1 * p.options[1].needs.memory_bytes / 1e9));
  const Prices kinds = parse_prices("p", R"({"currency": "USD", "machines": [
      {"name": "small", "cores": 4, "memory_gb": 100, "price": 1},
      {"name": "much memory", "cores": 4, "memory_gb": 900, "price": 9},
      {"name": "many cores", "cores": 32, "memory_gb": 100, "disk_mb_s": 80000, "price": 7}]})");
  CHECK(cheapest(p, kinds)->machine == "many cores");
  CHECK(cheapest(p, kinds)->option == 0);
  CHECK_FALSE(cheapest(provision(imagenet(), 5000), kinds));
}

TEST_CASE("prices that cannot be are refused by key") {
  const auto message = [](const char* text) {
    try {
      parse_prices("p.json", text);
    } catch (const Error& e) {
      return e.message();
    }
    return std::string();
  };
  CHECK(message("{") == "prices: p.json: it is no JSON");
  CHECK(message("[]") == "prices: p.json: it is no object");
  CHECK(message(R"({"core": -1})") ==
        "prices: p.json: core: a number of at least 0 is expected: -1");
  CHECK(message(R"({"cpu": 1})") ==
        "prices: p.json: cpu: keys are core, memory_gb, disk_mb_s, currency and machines");
  CHECK(message("{}").ends_with("or machines be given"));
  CHECK(message(R"({"machines": [{"name": "a"}]})") ==
        "prices: p.json: machines[0]: it needs a name and a price");
  CHECK(message(R"({"machines": [{"name": "a", "price": 1, "gpu": 2}]})") ==
        "prices: p.json: machines[0].gpu: keys are name, cores, memory_gb, disk_mb_s and price");
}

}  // namespace
}  // namespace penstock
