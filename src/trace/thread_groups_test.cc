#include "trace/thread_groups.h"

#include <doctest/doctest.h>

namespace penstock {
namespace {

using What = HandedOver::What;

// files | interleave(tfrecord) | map | filter | prefetch | batch, users first.
std::vector<StageTrace> made_stages() {
  std::vector<StageTrace> out(7);
  for (int id = 0; id < 7; ++id) out[static_cast<size_t>(id)].id = id;
  for (size_t id = 0; id < 4; ++id) out[id].inputs = {static_cast<int>(id) + 1};
  out[4].inputs = {6};
  out[5].parent = 4;
  return out;
}

std::vector<int> groups_of(const std::vector<HandedOver>& handed, std::vector<StageTrace>* stages) {
  set_thread_groups(handed, stages);
  std::vector<int> out;
  for (const StageTrace& s : *stages) out.push_back(s.thread_group);
  return out;
}

TEST_CASE("thread groups: with nothing handed over there is one") {
  std::vector<StageTrace> stages = made_stages();
  CHECK(groups_of(std::vector<HandedOver>(7), &stages) == std::vector(7, 0));
  CHECK(stages[3].width == 1);
}

TEST_CASE("thread groups: a chain has threads of its own, and a driver pulls what is below") {
  std::vector<StageTrace> stages = made_stages();
  std::vector<HandedOver> handed(7);
  handed[1].what = What::inputs;
  handed[2].head = 3;  // the filter goes along with the map
  handed[3] = {What::blocks, 4, -1};
  CHECK(groups_of(handed, &stages) == std::vector{0, 0, 1, 1, 2, 2, 2});
  CHECK(stages[2].width == 4);
  CHECK(stages[6].width == 1);
}

TEST_CASE("thread groups: a parallel interleave's datasets run on other threads than itself") {
  std::vector<StageTrace> stages = made_stages();
  std::vector<HandedOver> handed(7);
  handed[4] = {What::nested, 3, -1};
  CHECK(groups_of(handed, &stages) == std::vector{0, 0, 0, 0, 0, 1, 0});
  CHECK(stages[5].width == 3);
  CHECK(stages[4].width == 1);
}

TEST_CASE("thread groups: a batch ahead runs with its inputs in another thread") {
  std::vector<StageTrace> stages = made_stages();
  std::vector<HandedOver> handed(7);
  handed[2].what = What::itself;
  CHECK(groups_of(handed, &stages) == std::vector{0, 0, 1, 1, 1, 1, 1});
}

TEST_CASE("thread groups: traces without groups are read by the arguments of their stages") {
  std::vector<StageTrace> stages = made_stages();
  stages[1].reads_ahead = true;
  for (const size_t id : {2, 3}) {
    stages[id].stateless = stages[id].parallel = true;
    stages[id].calls = stages[id].limit = 2;
  }
  CHECK(groups_of(guess_handed_over(stages), &stages) == std::vector{0, 0, 1, 1, 2, 2, 2});
  CHECK(stages[3].width == 2);
}

}  // namespace
}  // namespace penstock
