#include "report/profile_page.h"

#include <doctest/doctest.h>

namespace penstock {
namespace {

TEST_CASE("profile page: a step of one download and one op, drawn half and half") {
  cluster::Profile p;
  p.source = "<b>mine</b>";
  p.notes = {"a & b"};
  cluster::Op down, compute;
  down.resource = cluster::Resource::downlink;
  down.bytes = 1'000'000;
  compute.resource = cluster::Resource::worker;
  compute.duration_s = 1;
  compute.deps = {0};
  p.steps.push_back({{down, compute}});
  const cluster::Inspection found = cluster::inspect(p, 1e6);
  REQUIRE(found.replay_s == doctest::Approx(2));
  const std::string page = profile_page(p, found, 1e6);
  CHECK(page.find("<b>mine") == std::string::npos);
  CHECK(page.find("&lt;b&gt;mine&lt;/b&gt;") != std::string::npos);
  CHECK(page.find("a &amp; b") != std::string::npos);
  // The download fills its lane up to the middle of the axis, the op from there on.
  CHECK(page.find("V10.0H350.0V64.0") != std::string::npos);
  CHECK(page.find("V128.0H350.0V74.0") != std::string::npos);
  CHECK(page.find("1 MB/s") != std::string::npos);
  CHECK(page.find("2e+03 ms") != std::string::npos);
  CHECK(page.find("uplink</td>") == std::string::npos);  // no such op: no row
}

TEST_CASE("profile page: a step of computing and an all-reduce is that of one of two ranks") {
  cluster::Profile p;
  cluster::Op compute, join;
  compute.resource = cluster::Resource::worker;
  compute.duration_s = 1;
  join.resource = cluster::Resource::all_reduce;
  join.bytes = 1'000'000;
  join.deps = {0};
  p.steps.push_back({{compute, join}});
  const cluster::Inspection found = cluster::inspect(p, 1e6);
  CHECK(found.replay_s == doctest::Approx(1));
  REQUIRE(found.two_ranks_s == doctest::Approx(2));
  const std::string page = profile_page(p, found, 1e6);
  CHECK(page.find("The replayed step of one of two ranks") != std::string::npos);
  CHECK(page.find("<li>1 step, 1 server, 1 lane of a worker</li>") != std::string::npos);
  CHECK(page.find("two ranks, replayed: 2.0000 s a step") != std::string::npos);
  // Both directions of its link are busy in the second half.
  CHECK(found.slices[29].downlink_rate == doctest::Approx(0));
  CHECK(found.slices[30].downlink_rate == doctest::Approx(1e6));
  CHECK(found.slices[59].uplink_rate == doctest::Approx(1e6));
  CHECK(found.slices[29].worker_use == doctest::Approx(1));
  CHECK(found.slices[30].worker_use == doctest::Approx(0));
}

}  // namespace
}  // namespace penstock
