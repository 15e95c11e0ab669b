// Any bytes as a training profile: steps or errors, in every format, and their replay.
#include <string>

#include "base/error.h"
#include "cluster/inspect.h"
#include "cluster/order.h"
#include "cluster/placement.h"
#include "cluster/predict.h"
#include "cluster/profile_json.h"
#include "cluster/read_profile.h"
#include "cluster/what_if.h"
#include "fuzz/read_all.h"

namespace {

template <typename Work>
void try_to(const Work& work) {
  try {
    work();
  } catch (const penstock::Error&) {
    // Refused with a message.
  }
}

// Two workers, few steps: every profile that passes check must end.
void predict_few(const penstock::cluster::Profile& profile, double rate) {
  using namespace penstock::cluster;
  constexpr int32_t kMostServers = 16;
  if (profile.servers > kMostServers) return;
  Question q;
  q.workers = {2};
  q.mode = has_collectives(profile) ? Mode::all_reduce : Mode::async;
  q.rig.server_rate = rate;
  q.rig.stagger_s = 0;
  q.steps = 6;
  q.warm_up = 1;
  q.replications = 1;
  predict({profile}, q);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace penstock;
  using namespace penstock::cluster;
  constexpr double kRate = 1e8;
  const std::string path = file_of(data, size);
  try_to([&] {
    const Profile profile = read_profile(path);
    inspect(profile, kRate);
    try_to([&] { predict_few(profile, kRate); });
    read_profile_json("written", write_profile_json(profile));
    for (const Order o : {Order::reverse, Order::tic, Order::tac, Order::sequential, Order::layer})
      try_to([&] { write_order(with_order(profile, o, kRate, 1)); });
    try_to([&] { place(profile, 3); });
    try_to([&] { to_all_reduce(profile, 1 << 20); });
  });
  return 0;
}
