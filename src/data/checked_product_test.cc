#include "data/checked_product.h"

#include <doctest/doctest.h>

#include <vector>

#include "base/error.h"
#include "data/shape.h"

namespace penstock {
namespace {

constexpr int64_t kLarge = int64_t{1} << 32;

TEST_CASE("a product of sizes is right or as large as none can be") {
  CHECK(checked_product({}) == 1);
  CHECK(checked_product({3, 4, 5}) == 60);
  CHECK(checked_product({kMostEntries}) == kMostEntries);
  CHECK(checked_product({kMostEntries, 2}) == kMostEntries);
  CHECK(checked_product({kLarge, kLarge}) == kMostEntries);  // 2^64: wraps to 0
  CHECK(checked_product({INT64_MAX, INT64_MAX, INT64_MAX}) == kMostEntries);
  CHECK(checked_product({kLarge, kLarge, 0}) == 0);
  CHECK(checked_product({0, INT64_MAX, INT64_MAX}) == 0);
}

TEST_CASE("no shape has axes whose product is too large") {
  CHECK(Dims({int64_t{1} << 28, int64_t{1} << 28}).entries() == kMostEntries);
  CHECK(Dims({0, 1 << 20}).entries() == 0);
  CHECK_THROWS_AS(Dims({kLarge, kLarge}), Error);
  CHECK_THROWS_AS(Dims({0, kLarge, kLarge}), Error);  // its items would be too large
  CHECK_THROWS_AS(Dims({INT64_MAX}), Error);
  CHECK_THROWS_AS(Dims({kLarge}).with_front(kLarge), Error);
  CHECK_THROWS_AS(Dims({1, 1, 1, 1, 1, 1, 1, 1}).with_front(1), Error);
  Dims dims{kLarge};
  CHECK_THROWS_AS(dims.push_back(kLarge), Error);
  CHECK(Dims({2, 3, 4}).without_front() == Dims({3, 4}));
  CHECK(Dims({3, 4}).with_front(2) == Dims({2, 3, 4}));
  CHECK(Shape({kLarge, kLarge}).entries() == kMostEntries);
  CHECK(Shape({kLarge, -1}).entries() == -1);
}

}  // namespace
}  // namespace penstock
