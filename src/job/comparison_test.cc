#include "job/comparison.h"

#include <doctest/doctest.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

namespace penstock {
namespace {

// Rates on a virtual clock: each run takes exactly its time. The noise is that of a log-normal.
struct Machine {
  double before = 100, after = 100, noise = 0.05;
  std::mt19937_64 random{7};
  std::string order{};
  double seconds = 0;

  SampleRate sample() {
    return [this](bool rewritten, double run_seconds) {
      order += rewritten ? 'r' : 'w';
      seconds += run_seconds;
      std::normal_distribution<double> draw(0, noise);
      return RateSample{(rewritten ? after : before) * run_seconds * std::exp(draw(random)),
                        run_seconds};
    };
  }
};

TEST_CASE("a clear gain is seen after three pairs, each plan first in turn") {
  Machine m{.after = 200};
  const Comparison c = compare_rates(m.sample(), 16);
  CHECK(c.is_faster());
  CHECK(m.order == "wrrwwr");
  CHECK(c.pairs == 3);
  CHECK(m.seconds == doctest::Approx(6));
  CHECK(c.low < 2);
  CHECK(c.high > 2);
  CHECK(c.after / c.before == doctest::Approx(2).epsilon(0.15));
}

TEST_CASE("a clear loss is seen, too") {
  Machine m{.after = 60};
  const Comparison c = compare_rates(m.sample(), 16);
  CHECK(c.is_slower());
  CHECK(!c.is_faster());
}

TEST_CASE("equal plans take the time that there is, and stay undecided") {
  int decided = 0;
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    Machine m{.random = std::mt19937_64(seed)};
    const Comparison c = compare_rates(m.sample(), 16);
    CHECK(m.seconds <= 16 + 2);
    decided += c.is_faster() || c.is_slower();
  }
  // 5 % at each of up to six looks, which are not independent.
  CHECK(decided < 200 / 5);
}

TEST_CASE("the drift of a machine that becomes slower meets both plans") {
  double speed = 1;
  const Comparison c = compare_rates(
      [&](bool rewritten, double seconds) {
        speed *= 0.9;
        return RateSample{(rewritten ? 100.0 : 100.0) * speed * seconds, seconds};
      },
      16);
  CHECK(!c.is_faster());
  CHECK(!c.is_slower());
}

TEST_CASE("runs that see no element do not divide by zero") {
  const Comparison c = compare_rates(
      [](bool rewritten, double seconds) { return RateSample{rewritten ? 5.0 : 0.0, seconds}; },
      16);
  CHECK(c.before == 0);
  CHECK(c.is_faster());
  CHECK(std::isfinite(c.ratio));
}

TEST_CASE("one pair alone proves nothing") {
  Machine m{.after = 300, .noise = 0};
  const Comparison c = compare_once(m.sample(), 20);
  CHECK(m.order == "wr");
  CHECK(m.seconds == doctest::Approx(20));
  CHECK(c.ratio == doctest::Approx(3));
  CHECK(!c.is_faster());
  CHECK(!c.is_slower());
}

}  // namespace
}  // namespace penstock
