// Compares predictions from the profile of one worker with the measurements of
// bench/cluster/rig.py.
#include <doctest/doctest.h>

#include <cmath>

#include "base/source_dir_test.h"
#include "cluster/predict.h"
#include "cluster/read_profile.h"

namespace penstock::cluster {
namespace {

TEST_CASE("measured: workers of small tensors on a plain link, which stay together") {
  // The rig's res_plain: 33 tensors, 100 Mbit/s, a queue of 300 KB; 400 steps and more of two runs.
  const Profile p = read_profile(source_dir() + "/tests/cluster/small_tensors");
  const double measured[][2] = {{1, 5.755}, {2, 8.834}, {3, 13.072}, {4, 14.356}, {8, 15.016}};
  Question q;
  for (const auto& [workers, _] : measured) q.workers.push_back(static_cast<int32_t>(workers));
  set_policy("grpc", &q.rig);
  q.rig.server_rate = parse_rate("100Mbit") * kPayloadShare;
  q.rig.worker_lanes = worker_lanes(p);
  q.rig.burst_bytes = 65536;  // of its shaper
  q.rig.duplex_loss = 0.004;  // seen by bulk transfers
  q.rig.message_wait_s = 0;   // its processes have real-time priority
  q.step_time_s = 1 / 5.755;
  const std::vector<Point> points = predict({p}, q);
  for (size_t i = 0; i < points.size(); ++i) {
    const double error = points[i].steps_per_s / measured[i][1] - 1;
    CAPTURE(points[i].workers);
    CAPTURE(error);
    CHECK(std::abs(error) < 0.08);
  }
  // Links that share equally, without queue, let them take turns.
  q.rig.sharing = Sharing::equal;
  q.rig.queue_bytes = 0;
  CHECK(std::abs(predict({p}, q)[1].steps_per_s / 8.834 - 1) > 0.08);
}

}  // namespace
}  // namespace penstock::cluster
