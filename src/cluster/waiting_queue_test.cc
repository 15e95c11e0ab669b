#include "cluster/waiting_queue.h"

#include <doctest/doctest.h>

#include <random>
#include <set>
#include <tuple>

using namespace penstock::cluster;

TEST_CASE("waiting queue: what comes in order, out of order and between goes in order") {
  const auto seed = std::random_device{}();
  CAPTURE(seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 40; ++round) {
    WaitingQueue queue;
    std::multiset<std::tuple<int32_t, double, int32_t>> expected;
    const auto disorder = random() % 4;  // 0: none
    for (int32_t op = 0; op < 600; ++op) {
      const auto priority = static_cast<double>(disorder == 0 ? op : op / 8 + random() % disorder);
      const auto rounds = static_cast<int32_t>(random() % 100 < disorder ? 1 : 0);
      queue.push({rounds, priority, op, 1});
      expected.emplace(rounds, priority, op);
      // At times pops exceed pushes: the queue runs empty and restarts.
      for (auto gone = random() % (op % 200 < 100 ? 2 : 4); gone > 0 && !expected.empty(); --gone) {
        const Waiting& top = queue.top();
        REQUIRE(std::tuple(top.round, top.priority, top.op) == *expected.begin());
        queue.pop();
        expected.erase(expected.begin());
      }
      REQUIRE(queue.empty() == expected.empty());
    }
  }
}
