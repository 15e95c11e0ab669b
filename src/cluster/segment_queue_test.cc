#include "cluster/segment_queue.h"

#include <doctest/doctest.h>

#include <array>
#include <vector>

#include "base/random.h"
#include "cluster/earliest.h"

namespace penstock::cluster {
namespace {

constexpr double kRate = 1e6;
constexpr double kSegment_bytes = 11 * 1448;

struct Pair {
  explicit Pair(const SegmentQueue::Limits& limits, int32_t workers = 4) {
    ways.reserve(2);
    for (size_t k : {1U, 0U}) ways.emplace_back(limits, workers, ways.data() + k);
  }

  // Runs both directions until this time, or until a transfer is complete: returns its worker.
  int32_t run(double until_s) {
    for (;;) {
      const double at_s = std::min(data().next_s(), back().next_s());
      if (at_s > until_s) return -1;
      now_s = at_s;
      if (back().next_s() <= data().next_s()) {
        back().happen();
      } else if (const int32_t w = data().happen(); w >= 0) {
        return w;
      }
    }
  }
  void send(int32_t worker, double bytes, double at_s) {
    data().offer(worker, bytes, at_s);
    data().expect(worker, bytes, at_s);
  }

  std::vector<SegmentQueue> ways;
  SegmentQueue& data() { return ways[0]; }
  SegmentQueue& back() { return ways[1]; }
  double now_s = 0;
};

SegmentQueue::Limits limits(double queue_bytes = 300'000) { return {kRate, queue_bytes, 0, 0, 0}; }

TEST_CASE("segments: a burst goes in one piece behind what was there before") {
  Pair link(limits());
  link.send(0, 100'000, 0);
  link.run(0.02);
  link.send(1, 5000, 0.02);
  CHECK(link.data().queued_bytes(0.02) == doctest::Approx(85'000));
  CHECK(link.run(9) == 0);
  CHECK(link.now_s == doctest::Approx(0.1));
  CHECK(link.run(9) == 1);
  CHECK(link.now_s == doctest::Approx(0.105));
  CHECK(link.data().carried() == doctest::Approx(105'000));
  CHECK(link.data().busy_s() == doctest::Approx(0.105));
}

TEST_CASE("segments: who sends more than its window lets others in") {
  Pair link(limits());
  link.send(0, 1e6, 0);
  link.send(1, 5000, 0.01);
  CHECK(link.run(9) == 1);
  // The window is half the queue at first, in whole segments.
  CHECK(link.now_s > 0.12);
  CHECK(link.now_s < 0.16);
}

TEST_CASE("segments: long transfers share the link, and no time is lost") {
  Pair link(limits());
  for (int32_t w = 0; w < 3; ++w) link.send(w, 2e6, 0);
  double first_s = 0;
  for (int k = 0; k < 3; ++k) {
    CHECK(link.run(99) >= 0);
    if (k == 0) first_s = link.now_s;
  }
  CHECK(link.now_s == doctest::Approx(6));
  CHECK(first_s > 3);  // windows are not equal, but no sender starves
}

TEST_CASE("segments: a transfer that was there before it is expected ends at once") {
  Pair link(limits(20'000));  // a window of 10 000
  for (const double bytes : {10'000, 500, 600}) link.data().offer(0, bytes, 0);
  link.data().expect(0, 10'000, 0);
  CHECK(link.run(9) == 0);
  CHECK(link.now_s == doctest::Approx(0.01));
  link.data().expect(0, 500, link.now_s);
  CHECK(link.run(9) == 0);
  CHECK(link.now_s == doctest::Approx(0.0111));  // one segment holds both
  link.data().expect(0, 600, link.now_s);
  CHECK(link.run(9) == 0);
  CHECK(link.now_s == doctest::Approx(0.0111));
  CHECK(link.run(9) == -1);
}

TEST_CASE("segments: acknowledgements wait in the other way's queue: a window a round trip") {
  Pair link(limits());
  const double window = link.data().window(0);
  for (int32_t w = 1; w < 3; ++w) link.back().offer(w, 4e6, 0);
  link.send(0, 1e6, 0);
  REQUIRE(link.run(99) == 0);
  // The reverse queue holds two windows of 150 KB, so a round trip takes about 0.3 s.
  const double rate = 1e6 / link.now_s;
  CHECK(rate < window / 0.25);
  CHECK(rate > window / 0.45);

  Pair free(limits());
  free.send(0, 1e6, 0);
  REQUIRE(free.run(99) == 0);
  CHECK(free.now_s == doctest::Approx(1));
}

TEST_CASE(
    "segments: a window grows half a packet a round trip and shrinks when the queue is full") {
  Pair link(limits());
  const double first = link.data().window(0);
  link.data().offer(0, 1e6, 0);
  link.run(1);
  CHECK(link.data().window(0) > first);
  // A round trip is a window, so the growth is 0.53 packets for each window that was carried.
  CHECK(link.data().window(0) < first + 0.54 * 1448 * 1e6 / first);
  const double grown = link.data().window(0);
  for (int32_t w = 0; w < 4; ++w) link.data().offer(w, 1e6, 1);
  link.run(1.3);
  double least = grown;
  for (int32_t w = 0; w < 4; ++w) {
    least = std::min(least, link.data().window(w));
    CHECK(link.data().on_the_way(w) <= std::max(grown, link.data().window(w)) + kSegment_bytes);
  }
  CHECK(least < 0.8 * first);
  CHECK(link.data().queued_bytes(1.3) <= 300'000);
}

TEST_CASE("segments: a sender in front of its own queue keeps little there") {
  SegmentQueue::Limits own = limits();
  Pair far(own);
  own.sender_queue_s = 1e-3;
  Pair near(own);
  for (Pair* link : {&far, &near}) {
    link->data().offer(0, 1e6, 0);
    link->run(0.5);
  }
  CHECK(far.data().queued_bytes(0.5) > 120'000);
  CHECK(near.data().queued_bytes(0.5) <= 4 * kSegment_bytes);
  CHECK(near.data().carried() == doctest::Approx(far.data().carried()).epsilon(0.05));
}

TEST_CASE("segments: a rested link carries a burst at once; both ways busy cost duplex_loss") {
  SegmentQueue::Limits more = limits();
  more.burst_bytes = 50'000;
  more.duplex_loss = 0.2;
  Pair link(more);
  link.send(0, 80'000, 0);
  CHECK(link.run(9) == 0);
  CHECK(link.now_s == doctest::Approx(0.03));
  link.send(0, 80'000, 0.04);  // 10 000 saved
  CHECK(link.run(9) == 0);
  CHECK(link.now_s == doctest::Approx(0.11));
  link.back().offer(1, 1e6, 0.11);
  link.send(0, 80'000, 0.11);
  CHECK(link.run(9) == 0);
  CHECK(link.now_s == doctest::Approx(0.21).epsilon(0.01));
}

TEST_CASE("segments: drawn bursts are conserved, and the link never rests while bytes wait") {
  RandomStream random(7, 0, 1);
  for (int round = 0; round < 50; ++round) {
    CAPTURE(round);
    Pair link(limits(20'000.0 + 1000.0 * static_cast<double>(random.next_below(500))), 5);
    double at_s = 0, sent = 0, busy_until_s = 0;
    std::array<double, 5> expected{};
    int arrivals = 0, transfers = 0;
    std::array<bool, 5> open{};
    for (int k = 0; k < 60; ++k) {
      at_s += random.next_double() * 0.05;
      for (int32_t w; (w = link.run(at_s)) >= 0; ++arrivals) open[static_cast<size_t>(w)] = false;
      const auto w = static_cast<size_t>(random.next_below(5));
      if (open[w]) continue;
      const double bytes = 1.0 + static_cast<double>(random.next_below(60'000));
      link.send(static_cast<int32_t>(w), bytes, at_s);
      open[w] = true;
      ++transfers;
      sent += bytes;
      expected[w] += bytes;
      busy_until_s = std::max(busy_until_s, at_s) + bytes / kRate;
    }
    while (link.run(1e9) >= 0) ++arrivals;
    CHECK(arrivals == transfers);
    CHECK(link.data().carried() == doctest::Approx(sent));
    CHECK(link.data().busy_s() == doctest::Approx(sent / kRate));
    CHECK(link.now_s == doctest::Approx(busy_until_s));
    for (int32_t w = 0; w < 5; ++w) CHECK(link.data().on_the_way(w) == doctest::Approx(0));
  }
}

TEST_CASE("earliest: the first of the least, as a search finds it") {
  RandomStream random(3, 0, 1);
  for (const size_t n : {1U, 2U, 3U, 7U, 128U}) {
    Earliest earliest(n);
    std::vector<double> times(n, Earliest::kNever);
    CHECK(earliest.time_s() == Earliest::kNever);
    for (int k = 0; k < 500; ++k) {
      const auto i = static_cast<size_t>(random.next_below(n));
      times[i] =
          random.next_below(8) == 0 ? Earliest::kNever : static_cast<double>(random.next_below(50));
      earliest.set(i, times[i]);
      const auto least = std::ranges::min_element(times);
      CHECK(earliest.time_s() == *least);
      CHECK(times[static_cast<size_t>(earliest.index())] == *least);
    }
  }
}

}  // namespace
}  // namespace penstock::cluster
