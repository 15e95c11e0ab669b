// The servers' links while the simulator runs: who sends over which, and how fast.
//
// Link 2s carries data from server s to the workers, link 2s + 1 from them to it. A worker has at
// most one flow on a link. Times never go back.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "base/random.h"
#include "cluster/queue_turns.h"
#include "cluster/rig.h"
#include "cluster/sharing.h"

namespace penstock::cluster {

class Network {
 public:
  Network(const Rig& rig, int32_t workers, int32_t servers, uint64_t seed);

  // Begins a flow. REQUIRES that the worker has none on the link.
  void start(int32_t link, int32_t worker, double bytes, double now_s);
  // The next transfer of a flow whose bytes are through, without giving up its place.
  void extend(int32_t link, int32_t worker, double bytes, double now_s);
  void stop(int32_t link, int32_t worker, double now_s);

  struct Arrival {
    double time_s;
    int32_t link, worker;  // link -1: nothing is under way
  };
  Arrival next();
  // Bytes/s of the worker's flow on the link, in a queue while it has its turn. REQUIRES that there
  // is one.
  double rate(int32_t link, int32_t worker) const;

  double bytes_carried(int32_t link) const { return links_[static_cast<size_t>(link)].carried; }
  double busy_s(int32_t link) const { return links_[static_cast<size_t>(link)].busy_s; }

 private:
  struct Link {
    std::vector<Flow> flows;  // by the time they began; in a queue by their turns
    double then_s = 0;        // up to when `left` holds
    double finish_s = std::numeric_limits<double>::infinity();  // of the first to have none left
    int32_t finisher = 0;                                       // its worker
    double carried = 0, busy_s = 0;
    double credit = 0;  // bytes that the link carries at once: a token bucket, full when rested
  };

  void advance(Link* link, double now_s);
  // What of `bytes` goes at once.
  static double spend_credit(Link* link, double bytes);
  // New rates after a change on `link`; `border` when it began or ceased to be busy.
  void update(int32_t link, bool border, double now_s);
  void share(int32_t link);
  void share_queue(int32_t link);
  void share_all();
  void find_finish(Link* link);
  double capacity(int32_t link) const;

  const Rig& rig_;
  bool queue_;  // flows take turns in one queue
  int32_t workers_;
  std::vector<Link> links_;
  Arrival next_{};
  bool next_known_ = false;
  std::vector<SharedFlow> flows_;  // of all links, while shares are found
  std::vector<double> prices_;     // alpha-fair: where the next search begins
  RandomStream random_;
};

}  // namespace penstock::cluster
