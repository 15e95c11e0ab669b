// The servers' links in the simulation: which flows use them, and at what rate.
//
//   Link 2s carries data from server s to the workers, link 2s + 1 from the workers to s. A worker
//   has at most one flow on a link. Times never go back.
#pragma once

#include <cstdint>
#include <vector>

#include "base/random.h"
#include "cluster/earliest.h"
#include "cluster/rig.h"
#include "cluster/segment_queue.h"
#include "cluster/sharing.h"
#include "cluster/worker_links.h"

namespace penstock::cluster {

class Network {
 public:
  // `step_bytes`: most bytes that a step of a worker sends over a link. Above 8 MB segments are
  // larger, so that the time to simulate a step does not grow with its bytes.
  Network(const Rig& rig, int32_t workers, int32_t servers, uint64_t seed, double step_bytes = 0);

  // Returns whether each link is a queue of segments (Sharing::queue). Else flows have rates.
  bool has_queues() const { return !queues_.empty(); }

  // Tells the link that the worker has more bytes to send. Links without a queue ignore it: start()
  // gives them the bytes. REQUIRES that flows for these bytes follow in the same order.
  void offer(int32_t link, int32_t worker, double bytes, double now_s);
  // Begins a flow. REQUIRES that the worker has none on the link.
  void start(int32_t link, int32_t worker, double bytes, double now_s);
  // Starts the next transfer of a flow whose bytes have arrived, without releasing its slot.
  void extend(int32_t link, int32_t worker, double bytes, double now_s);
  void stop(int32_t link, int32_t worker, double now_s);

  // Returns the time of the next event on a link; infinity: nothing is in flight.
  double next_s() const { return next_.time_s(); }
  struct Arrival {
    int32_t link, worker;  // worker -1: nothing has arrived
  };
  // Processes that event: a flow's bytes have arrived, or a queue advanced.
  Arrival happen();

  // Returns the seconds for which the bytes queued on the link and on the worker's own link delay a
  // message that arrives now. REQUIRES has_queues().
  double queued_s(int32_t link, int32_t worker, double now_s) const;
  // Bytes/s of the worker's flow on the link. REQUIRES such a flow and a link without queue.
  double rate(int32_t link, int32_t worker) const;

  double bytes_carried(int32_t link) const;
  double busy_s(int32_t link) const;

 private:
  struct Flow {
    int32_t worker = 0;
    double left = 0;  // bytes
    double rate = 0;
    double weight = 1;  // for the shares of the link
  };
  struct Link {
    std::vector<Flow> flows;  // in order of start
    double then_s = 0;        // time for which `left` holds
    int32_t finisher = 0;     // worker whose flow ends first
    double carried = 0, busy_s = 0;
    double credit = 0;  // token bucket: bytes that pass at once, full after rest
  };

  void advance(Link* link, double now_s);
  // Returns how many of `bytes` the token bucket lets through immediately.
  static double spend_credit(Link* link, double bytes);
  // Computes new rates after a change on `link`; `border`: the link became busy or idle.
  void update(int32_t link, bool border, double now_s);
  void share(int32_t link);
  void share_all();
  void find_finish(size_t link);
  double capacity(int32_t link) const;

  const Rig& rig_;
  int32_t workers_;
  std::vector<Link> links_;  // used without queues
  // A worker's flows of one direction together can exceed its link: they share it.
  const bool workers_limit_;
  WorkerLinks own_;                   // beside queues
  std::vector<SegmentQueue> queues_;  // by link; empty without queues
  Earliest next_;                     // by link
  std::vector<SharedFlow> flows_;     // of all links, used while computing shares
  std::vector<int32_t> turns_;        // of flows_, with Sharing::tcp: order of start on the link
  std::vector<double> prices_;        // alpha-fair: start of the next search
  RandomStream random_;
};

}  // namespace penstock::cluster
