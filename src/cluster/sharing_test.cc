#include "cluster/sharing.h"

#include <doctest/doctest.h>

#include <cmath>

namespace penstock::cluster {
namespace {

// Links 0 and 1 of servers, 2 to 4 of workers. Worker 0 has a flow from each server, server 1 flows
// to all workers: the two-server pattern of docs/cluster-model.md. The second flow crosses two full
// links.
std::vector<SharedFlow> two_servers() { return {{0, 2}, {1, 2}, {1, 3}, {1, 4}}; }

TEST_CASE("sharing: by round trip, in closed form") {
  std::vector<SharedFlow> flows = two_servers();
  share_by_round_trip({200, 200, 200, 200, 200}, &flows);
  CHECK(flows[1].rate == doctest::Approx(200 * 0.5 / 2.5));
  CHECK(flows[2].rate == doctest::Approx(80));
  CHECK(flows[3].rate == doctest::Approx(80));
  CHECK(flows[0].rate == doctest::Approx(160));
}

TEST_CASE("sharing: weights divide one link") {
  std::vector<SharedFlow> flows{{0, SharedFlow::kNoLink, 3}, {0, SharedFlow::kNoLink, 1}};
  share_max_min({100}, &flows);
  CHECK(flows[0].rate == doctest::Approx(75));
  CHECK(flows[1].rate == doctest::Approx(25));
}

TEST_CASE("sharing: by round trip, rates do not jump where a link is just full") {
  // Server 0's link is shared by both workers, server 1's is worker 0's alone. A full link of
  // worker 0 would make its flow from server 0 give way, and then not be full any more.
  double before = 0;
  for (double own = 120; own < 180; own += 0.5) {
    std::vector<SharedFlow> flows{{0, 2}, {0, 3}, {1, 2}};
    share_by_round_trip({100, 100, own, own}, &flows);
    CHECK(flows[0].rate + flows[1].rate <= 100 * (1 + 1e-9));
    CHECK(flows[0].rate + flows[2].rate <= own * (1 + 1e-9));
    if (before > 0) CHECK(std::abs(flows[0].rate - before) < 2.5);
    before = flows[0].rate;
  }
  CHECK(before == doctest::Approx(50));
}

TEST_CASE("sharing: a later turn gets what earlier ones cannot use") {
  std::vector<SharedFlow> flows{{0, 1}, {0, 2}, {0, 3}};
  share_in_turn({100, 40, 40, 40}, {0, 1, 2}, &flows);
  CHECK(flows[0].rate == doctest::Approx(40));
  CHECK(flows[1].rate == doctest::Approx(40));
  CHECK(flows[2].rate == doctest::Approx(20));
}

TEST_CASE("sharing: tiny weights take their part of the rest, and overload no link") {
  std::vector<SharedFlow> flows;
  double weight = 1;
  for (size_t w = 0; w < 60; ++w, weight *= 0.5) flows.push_back({0, 1 + w, weight});
  std::vector<double> capacity(61, 1);
  capacity[0] = 45;
  share_max_min(capacity, &flows);
  double sum = 0;
  for (const SharedFlow& f : flows) sum += f.rate;
  CHECK(sum == doctest::Approx(45));
}

TEST_CASE("sharing: alpha-fair, in closed form") {
  // x of the flow over two full links: x^-a is the sum of both prices, (B - x)^-a (1 + 2^a).
  for (const double alpha : {0.35, 1.0, 2.0}) {
    std::vector<SharedFlow> flows = two_servers();
    std::vector<double> prices;
    share_alpha_fair({200, 200, 200, 200, 200}, alpha, 4000, &prices, &flows);
    const double x = 200 / (1 + std::pow(1 + std::pow(2, alpha), 1 / alpha));
    CHECK(flows[1].rate == doctest::Approx(x).epsilon(0.005));
    CHECK(flows[0].rate == doctest::Approx(200 - x).epsilon(0.005));
    CHECK(flows[2].rate == doctest::Approx((200 - x) / 2).epsilon(0.005));
  }
}

TEST_CASE("sharing: alpha-fair goes to max-min, and never beyond a link") {
  std::vector<SharedFlow> flows = two_servers(), fair = two_servers();
  const std::vector<double> capacity{100, 70, 90, 20, 200};
  std::vector<double> prices;
  share_alpha_fair(capacity, 10, 4000, &prices, &flows);
  share_max_min(capacity, &fair);
  for (size_t i = 0; i < flows.size(); ++i)
    CHECK(flows[i].rate == doctest::Approx(fair[i].rate).epsilon(0.1));
  for (const int rounds : {1, 2, 5, 50}) {
    prices.clear();
    share_alpha_fair(capacity, 0.3, rounds, &prices, &flows);
    CHECK(flows[1].rate + flows[2].rate + flows[3].rate <= 70 * (1 + 1e-9));
    CHECK(flows[0].rate + flows[1].rate <= 90 * (1 + 1e-9));
    CHECK(flows[2].rate <= 20 * (1 + 1e-9));
  }
}

}  // namespace
}  // namespace penstock::cluster
