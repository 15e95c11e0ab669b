#include "cluster/deadline.h"

#include <doctest/doctest.h>

namespace penstock::cluster {
namespace {

Point point(int32_t workers, double steps_per_s, double half_width = 0) {
  Point p;
  p.workers = workers;
  p.steps_per_s = steps_per_s;
  p.low = steps_per_s * (1 - half_width);
  p.high = steps_per_s * (1 + half_width);
  return p;
}

}  // namespace

TEST_CASE("the cheapest size within the time, and the one that is sure to be") {
  // 100 examples a batch; 3.6 million examples are 36000 batches: 10, 5.26, 4.17 and 4 h.
  const std::vector<Point> points{point(1, 1, 0.1), point(2, 1.9, 0.1), point(3, 2.4, 0.1),
                                  point(4, 2.5, 0.1)};
  const std::optional<Prices> prices{{1, 0.5, "EUR"}};
  const DeadlineAnswer a = meet({3.6e6, 5.5 * 3600}, points, 100, prices);
  REQUIRE(a.cheapest);
  CHECK(a.cheapest->point.workers == 2);
  CHECK(a.cheapest->hours.value == doctest::Approx(10 / 1.9));
  CHECK(a.cheapest->cost.value == doctest::Approx(2.5 * 10 / 1.9));
  CHECK(a.cheapest->cost.high == doctest::Approx(2.5 * 10 / (1.9 * 0.9)));
  REQUIRE(a.sure);  // two workers take 5.85 h at the slow end
  CHECK(a.sure->point.workers == 3);
  CHECK(a.fastest.point.workers == 4);
  const DeadlineAnswer none = meet({3.6e6, 3600}, points, 100, prices);
  CHECK_FALSE(none.cheapest);
  CHECK_FALSE(none.sure);
}

TEST_CASE("without prices hosts are counted; a joint step is of several batches") {
  Point joint = point(4, 1);
  joint.servers = 0;
  joint.batches = 4;
  const DeadlineAnswer a = meet({3.6e6, 36000}, {joint}, 100, std::nullopt);
  REQUIRE(a.sure);
  CHECK(a.sure->hours.value == doctest::Approx(2.5));
  CHECK(a.sure->cost.value == doctest::Approx(10));
  CHECK(a.sure->hours.low == a.sure->hours.high);
}

}  // namespace penstock::cluster
