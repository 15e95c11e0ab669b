// The servers' links while the simulator runs: who sends over which, and how fast.
//
// Link 2s carries data from server s to the workers, link 2s + 1 from them to it. A worker has at
// most one flow on a link. Times never go back.
#pragma once

#include <cstdint>
#include <vector>

#include "base/random.h"
#include "cluster/earliest.h"
#include "cluster/rig.h"
#include "cluster/segment_queue.h"
#include "cluster/sharing.h"

namespace penstock::cluster {

class Network {
 public:
  // `step_bytes`: the most that a step of a worker sends over a link. Of more than 8 MB segments
  // are larger, so that the time of a simulated step does not grow with its bytes.
  Network(const Rig& rig, int32_t workers, int32_t servers, uint64_t seed, double step_bytes = 0);

  // Whether each link is a queue of segments (Sharing::queue); else flows have rates.
  bool has_queues() const { return !queues_.empty(); }

  // Bytes that the worker has for the link from now on; a link without queue has them when a flow
  // of them begins. REQUIRES that flows of them follow in the same order.
  void offer(int32_t link, int32_t worker, double bytes, double now_s);
  // Begins a flow. REQUIRES that the worker has none on the link.
  void start(int32_t link, int32_t worker, double bytes, double now_s);
  // The next transfer of a flow whose bytes are through, without giving up its place.
  void extend(int32_t link, int32_t worker, double bytes, double now_s);
  void stop(int32_t link, int32_t worker, double now_s);

  // When something happens next on a link; infinity: nothing is under way.
  double next_s() const { return next_.time_s(); }
  struct Arrival {
    int32_t link, worker;  // worker -1: nothing has arrived
  };
  // Lets it happen: the flow's bytes are through, or a queue went on.
  Arrival happen();

  // Bytes that a message finds before it on a link that has a queue.
  double queued_bytes(int32_t link, double now_s) const;
  // Bytes/s of the worker's flow on the link. REQUIRES that there is one, and no queue.
  double rate(int32_t link, int32_t worker) const;

  double bytes_carried(int32_t link) const;
  double busy_s(int32_t link) const;

 private:
  struct Flow {
    int32_t worker = 0;
    double left = 0;  // bytes
    double rate = 0;
    double weight = 1;  // of its share
  };
  struct Link {
    std::vector<Flow> flows;  // by the time they began
    double then_s = 0;        // up to when `left` holds
    int32_t finisher = 0;     // worker of the first to have none left
    double carried = 0, busy_s = 0;
    double credit = 0;  // bytes that the link carries at once: a token bucket, full when rested
  };

  void advance(Link* link, double now_s);
  // What of `bytes` goes at once.
  static double spend_credit(Link* link, double bytes);
  // New rates after a change on `link`; `border` when it began or ceased to be busy.
  void update(int32_t link, bool border, double now_s);
  void share(int32_t link);
  void share_all();
  void find_finish(size_t link);
  double capacity(int32_t link) const;

  const Rig& rig_;
  int32_t workers_;
  std::vector<SegmentQueue> queues_;  // by link, or none
  std::vector<Link> links_;           // where there are no queues
  Earliest next_;                     // by link
  std::vector<SharedFlow> flows_;     // of all links, while shares are found
  std::vector<double> prices_;        // alpha-fair: where the next search begins
  RandomStream random_;
};

}  // namespace penstock::cluster
