#include "data/true_rows.h"

#include <doctest/doctest.h>

#include <memory>
#include <random>
#include <vector>

namespace penstock {
namespace {

TEST_CASE("true rows are those of a plain loop, for every length and density") {
  const unsigned seed = std::random_device()();
  MESSAGE("seed " << seed);
  std::mt19937 random(seed);
  for (int64_t count = 0; count < 200; ++count) {
    for (const double density : {0.0, 0.1, 0.5, 1.0}) {
      const auto flags = std::make_unique<bool[]>(static_cast<size_t>(count));
      std::vector<int32_t> wanted;
      for (int64_t i = 0; i < count; ++i) {
        flags[static_cast<size_t>(i)] = std::bernoulli_distribution(density)(random);
        if (flags[static_cast<size_t>(i)]) wanted.push_back(static_cast<int32_t>(i));
      }
      std::vector<int32_t> got(static_cast<size_t>(count + kTrueRowsSlack));
      got.resize(static_cast<size_t>(true_rows(flags.get(), count, got.data())));
      CHECK(got == wanted);
    }
  }
}

}  // namespace
}  // namespace penstock
