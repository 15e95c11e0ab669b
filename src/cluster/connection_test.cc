#include "cluster/connection.h"

#include <doctest/doctest.h>

#include "cluster/simulator.h"

namespace penstock::cluster {
namespace {

TEST_CASE("connection: pieces go behind the first of all others") {
  const LinkScheduler s{100, 100};
  Connection c;
  c.add(s, 0, 0, 250);
  c.add(s, 1, 1, 50);
  CHECK(c.send(s) == 100);
  CHECK(c.arrived(s).op == -1);
  CHECK(c.send(s) == 50);
  CHECK(c.bytes() == 200);
  CHECK(c.arrived(s).op == 1);
  CHECK(c.send(s) == 100);
  CHECK(c.arrived(s).op == -1);
  CHECK(c.send(s) == 50);
  CHECK(c.arrived(s).op == 0);
  CHECK(c.send(s) == 0);
  CHECK_FALSE(c.busy());
}

LinkScheduler windows(double stream, double connection, double growth, double most) {
  LinkScheduler s;
  s.first_bytes = stream;
  s.connection_bytes = connection;
  s.growth = growth;
  s.most_bytes = most;
  s.credit_s = 0.5;
  return s;
}

TEST_CASE("connection: a stream waits for credit, another may go meanwhile, up to its window") {
  const LinkScheduler s = windows(100, 150, 1, 100);
  Connection c;
  c.add(s, 0, 0, 150);
  c.add(s, 1, 1, 80);
  CHECK(c.send(s) == 100);
  CHECK(c.arrived(s).op == -1);
  CHECK(c.send(s) == 50);  // the rest of the connection's window
  CHECK(c.arrived(s).op == -1);
  CHECK(c.send(s) == 0);
  CHECK_FALSE(c.busy());
  c.credited(s);
  CHECK(c.send(s) == 50);
  CHECK(c.op() == 0);
}

// Returns the seconds that a download of `bytes` takes over a link of 1000 bytes/s.
double download_s(const LinkScheduler& scheduler, int64_t bytes) {
  Rig rig;
  rig.server_rate = 1000;
  rig.sharing = Sharing::equal;
  rig.stagger_s = 0;
  rig.scheduler = scheduler;
  Step step;
  append(&step, "read", Resource::downlink, bytes, 0.0, {});
  return simulate({plan_step(step, rig)}, rig, Run{1, 1, 1, 3}).end_s;
}

TEST_CASE("connection: windows bound the rate to window / (window / rate + credit)") {
  CHECK(download_s(LinkScheduler{}, 1000) == doctest::Approx(1));
  // Ten windows of 100 bytes take 0.1 s each, and nine times 0.5 s for credit.
  CHECK(download_s(windows(100, 0, 1, 100), 1000) == doctest::Approx(1 + 9 * 0.5));
  // 100, 200, 400, 300: three credits.
  CHECK(download_s(windows(100, 0, 2, 400), 1000) == doctest::Approx(1 + 3 * 0.5));
  // 100, 200 and then 200 at a time.
  CHECK(download_s(windows(100, 0, 2, 200), 1000) == doctest::Approx(1 + 5 * 0.5));
}

}  // namespace
}  // namespace penstock::cluster
