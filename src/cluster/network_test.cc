#include "cluster/network.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

namespace penstock::cluster {
namespace {

struct Placed {
  int32_t link, worker;
};

// An allocation is max-min fair if every flow crosses a full link on which no flow is faster.
void check_max_min(const Network& network, const Rig& rig, const std::vector<Placed>& flows) {
  const auto has_bottleneck = [&](const Placed& f) {
    double on_link = 0, on_worker = 0, fastest_link = 0, fastest_worker = 0;
    for (const Placed& o : flows) {
      const double r = network.rate(o.link, o.worker);
      if (o.link == f.link) {
        on_link += r;
        fastest_link = std::max(fastest_link, r);
      }
      if (o.worker == f.worker && o.link % 2 == f.link % 2) {
        on_worker += r;
        fastest_worker = std::max(fastest_worker, r);
      }
    }
    CHECK(on_link <= rig.server_rate * (1 + 1e-9));
    CHECK(on_worker <= rig.worker_rate * (1 + 1e-9));
    const double mine = network.rate(f.link, f.worker) * (1 + 1e-9);
    return (on_link >= rig.server_rate * (1 - 1e-9) && mine >= fastest_link) ||
           (on_worker >= rig.worker_rate * (1 - 1e-9) && mine >= fastest_worker);
  };
  for (const Placed& f : flows) CHECK(has_bottleneck(f));
}

struct Next {
  double time_s;
  int32_t link, worker;
};

// Runs events until the bytes of a flow are through.
Next next(Network* network) {
  for (;;) {
    const double time_s = network->next_s();
    if (time_s == Earliest::kNever) return {time_s, -1, -1};
    if (const Network::Arrival a = network->happen(); a.worker >= 0)
      return {time_s, a.link, a.worker};
  }
}

TEST_CASE("network: max-min shares are max-min fair for random flows") {
  RandomStream random(7, 0, 1);
  for (int trial = 0; trial < 200; ++trial) {
    Rig rig;
    rig.sharing = Sharing::max_min;
    rig.server_rate = 100;
    rig.worker_rate = 20.0 + static_cast<double>(random.next_below(200));
    Network network(rig, 5, 3, 1);
    std::vector<Placed> flows;
    for (int32_t link = 0; link < 6; ++link) {
      for (int32_t w = 0; w < 5; ++w) {
        if (random.next_below(2) == 0) continue;
        network.start(link, w, 1000, 0);
        flows.push_back({link, w});
      }
    }
    check_max_min(network, rig, flows);
  }
}

TEST_CASE("network: no policy sends more over a link than it carries") {
  RandomStream random(11, 0, 1);
  for (const Sharing sharing :
       {Sharing::equal, Sharing::max_min, Sharing::round_trip, Sharing::alpha_fair, Sharing::tcp}) {
    for (int trial = 0; trial < 100; ++trial) {
      Rig rig;
      rig.sharing = sharing;
      if (trial % 2 == 0) rig.newcomer = 0;  // tcp: one after the other
      rig.server_rate = 100;
      rig.worker_rate = 20.0 + static_cast<double>(random.next_below(279));  // three servers: 300
      rig.share_spread = sharing == Sharing::tcp ? 0.5 : 0;
      Network network(rig, 5, 3, 1);
      std::vector<Placed> flows;
      for (int32_t link = 0; link < 6; ++link) {
        for (int32_t w = 0; w < 5; ++w) {
          if (random.next_below(2) == 0) continue;
          network.start(link, w, 1000, 0);
          flows.push_back({link, w});
        }
      }
      for (int32_t own = 0; own < 10; ++own) {
        double rate = 0;
        for (const Placed& f : flows) {
          if (f.worker == own / 2 && f.link % 2 == own % 2) rate += network.rate(f.link, f.worker);
        }
        CHECK(rate <= rig.worker_rate * (1 + 1e-6));
      }
      for (int32_t link = 0; link < 6; ++link) {
        double rate = 0;
        for (const Placed& f : flows) {
          if (f.link == link) rate += network.rate(f.link, f.worker);
        }
        CHECK(rate <= rig.server_rate * (1 + 1e-6));
      }
    }
  }
}

TEST_CASE("network: max-min with equal links is the paper's 1/n and 1 - 1/n for two servers") {
  Rig rig;
  rig.sharing = Sharing::max_min;
  rig.server_rate = rig.worker_rate = 120;
  Network network(rig, 3, 2, 1);
  network.start(0, 0, 1000, 0);  // worker 0 alone at server 0
  for (int32_t w = 0; w < 3; ++w) network.start(2, w, 1000, 0);
  for (int32_t w = 0; w < 3; ++w) CHECK(network.rate(2, w) == doctest::Approx(40));
  CHECK(network.rate(0, 0) == doctest::Approx(80));
}

TEST_CASE("network: two flows halve a link, and the rest speeds up when one ends") {
  Rig rig;
  rig.sharing = Sharing::equal;
  rig.server_rate = 100;
  Network network(rig, 2, 1, 1);
  network.start(0, 0, 100, 0);
  network.start(0, 1, 300, 0);
  Next a = next(&network);
  CHECK(a.time_s == doctest::Approx(2));
  CHECK(a.worker == 0);
  network.stop(0, 0, a.time_s);
  a = next(&network);
  CHECK(a.time_s == doctest::Approx(4));
  network.stop(0, 1, a.time_s);
  CHECK(next(&network).link == -1);
  CHECK(network.bytes_carried(0) == doctest::Approx(400));
  CHECK(network.busy_s(0) == doctest::Approx(4));
}

TEST_CASE("network: the other way costs duplex_loss of the rate, both ways") {
  Rig rig;
  rig.sharing = Sharing::equal;
  rig.server_rate = 100;
  rig.duplex_loss = 0.2;
  Network network(rig, 2, 1, 1);
  network.start(0, 0, 100, 0);
  CHECK(network.rate(0, 0) == doctest::Approx(100));
  network.start(1, 1, 1000, 0.5);
  CHECK(network.rate(0, 0) == doctest::Approx(80));
  CHECK(next(&network).time_s == doctest::Approx(0.5 + 50.0 / 80));
  network.stop(0, 0, next(&network).time_s);
  CHECK(network.rate(1, 1) == doctest::Approx(100));
}

TEST_CASE("network: a rested link carries a burst at once, and saves for the next") {
  Rig rig;
  rig.sharing = Sharing::equal;
  rig.server_rate = 100;
  rig.burst_bytes = 50;
  Network network(rig, 2, 1, 1);
  network.start(0, 0, 80, 0);
  CHECK(next(&network).time_s == doctest::Approx(0.3));
  network.start(0, 1, 100, 0.1);  // the burst is spent
  CHECK(next(&network).time_s == doctest::Approx(0.1 + 0.4));
  network.stop(0, 0, 0.5);
  network.stop(0, 1, 1.3);
  network.start(0, 0, 30, 1.5);  // 20 saved
  CHECK(next(&network).time_s == doctest::Approx(1.6));
  CHECK(network.bytes_carried(0) == doctest::Approx(200));
}

TEST_CASE("network: in a queue a burst waits for what is before it, then goes in one piece") {
  Rig rig;
  rig.sharing = Sharing::queue;
  rig.server_rate = 1e5;
  rig.queue_bytes = 200'000;
  Network network(rig, 2, 1, 1);
  CHECK(network.has_queues());
  const auto start = [&](int32_t w, double bytes, double at_s) {
    network.offer(0, w, bytes, at_s);
    network.start(0, w, bytes, at_s);
  };
  start(0, 50'000, 0);
  start(1, 5000, 0.1);
  CHECK(network.queued_s(0, 1, 0.1) == doctest::Approx(0.45));
  Next a = next(&network);
  CHECK(a.worker == 0);
  CHECK(a.time_s == doctest::Approx(0.5));
  network.extend(0, 0, 1000, a.time_s);
  network.offer(0, 0, 1000, a.time_s);
  a = next(&network);
  CHECK(a.worker == 1);
  CHECK(a.time_s == doctest::Approx(0.55));
  network.stop(0, 1, a.time_s);
  a = next(&network);
  CHECK(a.worker == 0);
  CHECK(a.time_s == doctest::Approx(0.56));
  network.stop(0, 0, a.time_s);
  CHECK(next(&network).link == -1);
  CHECK(network.bytes_carried(0) == doctest::Approx(56'000));
  CHECK(network.busy_s(0) == doctest::Approx(0.56));
}

TEST_CASE("network: a queue of many long flows ends near where equal shares do") {
  Rig rig;
  rig.server_rate = 1e6;
  rig.queue_bytes = 3e6;
  double end_s[2] = {};
  for (const Sharing sharing : {Sharing::queue, Sharing::equal}) {
    rig.sharing = sharing;
    Network network(rig, 50, 1, 1);
    for (int32_t w = 0; w < 50; ++w) {
      network.offer(0, w, 1e6 * (1 + w), 0);
      network.start(0, w, 1e6 * (1 + w), 0);
    }
    for (int32_t k = 0; k < 50; ++k) {
      const Next a = next(&network);
      if (k < 25) end_s[sharing == Sharing::queue] = a.time_s;
      network.stop(0, a.worker, a.time_s);
    }
    CHECK(network.bytes_carried(0) == doctest::Approx(1e6 * 25 * 51));
  }
  CHECK(end_s[1] == doctest::Approx(end_s[0]).epsilon(0.1));
}

TEST_CASE("network: workers' links slower than the server's hold a queue's flows back") {
  Rig rig;
  rig.sharing = Sharing::queue;
  rig.server_rate = 1e5;
  rig.queue_bytes = 3e5;
  for (const double own : {2e4, 5e4, 8e4, 1e5, 2e5, 1e9}) {
    rig.worker_rate = own;
    Network network(rig, 3, 2, 1);
    for (int32_t server = 0; server < 2; ++server) {
      network.offer(2 * server, 0, 1e6, 0);
      network.start(2 * server, 0, 1e6, 0);
    }
    double end_s = 0;
    for (int k = 0; k < 2; ++k) {
      const Next a = next(&network);
      CHECK(a.worker == 0);
      network.stop(a.link, 0, a.time_s);
      end_s = a.time_s;
    }
    CHECK(end_s == doctest::Approx(std::max(2e6 / own, 1e6 / rig.server_rate)).epsilon(0.001));
  }
}

TEST_CASE("network: of a queue no time sees more bytes than the links carry") {
  RandomStream random(5, 0, 1);
  for (int trial = 0; trial < 100; ++trial) {
    Rig rig;
    rig.sharing = Sharing::queue;
    rig.server_rate = 1e6;
    rig.queue_bytes = 1e5;
    rig.worker_rate = 2e5 + 1e4 * static_cast<double>(random.next_below(250));
    Network network(rig, 4, 3, 1);
    int flows = 0;
    std::vector<double> came(8, 0);   // bytes by worker and way
    std::vector<double> sent(24, 0);  // by link and worker
    for (int32_t link = 0; link < 6; ++link) {
      for (int32_t w = 0; w < 4; ++w) {
        if (random.next_below(2) == 0) continue;
        const double bytes = 1e4 * static_cast<double>(1 + random.next_below(50));
        network.offer(link, w, bytes, 0);
        network.start(link, w, bytes, 0);
        sent[static_cast<size_t>(4 * link + w)] = bytes;
        ++flows;
      }
    }
    std::vector<double> by_link(6, 0);
    for (; flows > 0; --flows) {
      const Next a = next(&network);
      REQUIRE(a.worker >= 0);
      network.stop(a.link, a.worker, a.time_s);
      const double bytes = sent[static_cast<size_t>(4 * a.link + a.worker)];
      const double own = came[static_cast<size_t>(2 * a.worker + a.link % 2)] += bytes;
      const double all = by_link[static_cast<size_t>(a.link)] += bytes;
      CHECK(own <= rig.worker_rate * a.time_s * (1 + 1e-9));
      CHECK(all <= rig.server_rate * a.time_s * (1 + 1e-9));
    }
  }
}

TEST_CASE("network: tcp shares add up to the link and favour the burst under way") {
  Rig rig;
  rig.sharing = Sharing::tcp;
  rig.server_rate = 100;
  rig.newcomer = 0.5;
  Network network(rig, 3, 1, 1);
  for (int32_t w = 0; w < 3; ++w) network.start(0, w, 1000, 0);
  CHECK(network.rate(0, 0) == doctest::Approx(100 * 4.0 / 7));
  CHECK(network.rate(0, 2) == doctest::Approx(100 * 1.0 / 7));
  network.stop(0, 0, 1);
  CHECK(network.rate(0, 1) == doctest::Approx(200.0 / 3));
}

}  // namespace
}  // namespace penstock::cluster
