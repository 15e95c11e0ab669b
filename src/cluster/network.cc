// Two models of a link share this interface. With Sharing::queue each link is a SegmentQueue: order
// and speed follow from the queue, and start() and extend() only announce the bytes to wait for.
// Workers' links that have a limit are FIFOs after it (worker_links.h). All other policies are
// fluid: a flow has a rate, which changes when a flow starts or stops, and find_finish() computes
// which flow ends first.
//
// Fluid rates are local if links are independent (equal, tcp): a change affects its link and, with
// duplex_loss, the reverse link. Max-min, round-trip and alpha-fair shares couple all links, and so
// do workers' links that can limit (below the rates of all servers together): every change advances
// and shares all of them, equal and tcp then by max-min with the flows' weights, which is the same
// as long as no worker's link is full. Alpha-fair starts from the prices of the previous call,
// which are close, and so needs few rounds.
//
// Bytes are brought up to date lazily: a link stores the state at `then_s`, and advance() applies
// the rates since then. Every change of rates or flows must call advance() first.
#include "cluster/network.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace penstock::cluster {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr double kMostSegments = 512;  // per worker, step and link
constexpr double kLeastRank = 1e-12;   // of a burst among many that began before it
constexpr int kAlphaRounds = 300;      // enough: the prices of the previous event are close

double normal(RandomStream* random) {
  const double u = 1.0 - random->next_double(), v = random->next_double();
  return std::sqrt(-2.0 * std::log(u)) * std::cos(2.0 * std::numbers::pi * v);
}

}  // namespace

Network::Network(const Rig& rig, int32_t workers, int32_t servers, uint64_t seed, double step_bytes)
    : rig_(rig),
      workers_(workers),
      links_(static_cast<size_t>(servers) * 2),
      workers_limit_(rig.sharing != Sharing::queue && rig.worker_rate > 0 &&
                     rig.worker_rate < servers * rig.server_rate),
      own_(rig.worker_rate, rig.queue_bytes, workers),
      next_(links_.size()),
      random_(seed, 0, 0x6e6574) {
  const double burst_bytes = std::max(0.0, rig.burst_bytes);
  for (Link& link : links_) link.credit = burst_bytes;
  if (rig.sharing != Sharing::queue) return;
  queues_.reserve(links_.size());
  for (size_t l = 0; l < links_.size(); ++l) {
    const double sender_queue_s = l % 2 == 0 ? rig.sender_queue_s : 0;
    queues_.emplace_back(
        SegmentQueue::Limits{rig.server_rate, rig.queue_bytes, burst_bytes, rig.duplex_loss,
                             sender_queue_s, step_bytes / kMostSegments},
        workers, queues_.data() + (l ^ 1), rig.worker_rate > 0 ? &own_ : nullptr,
        static_cast<int32_t>(l % 2));
  }
}

double Network::capacity(int32_t link) const {
  const bool duplex = !links_[static_cast<size_t>(link ^ 1)].flows.empty();
  return rig_.server_rate * (duplex ? 1.0 - rig_.duplex_loss : 1.0);
}

void Network::advance(Link* link, double now_s) {
  const double elapsed_s = now_s - link->then_s;
  link->then_s = now_s;
  if (elapsed_s <= 0) return;
  if (link->flows.empty()) {
    link->credit =
        std::min(std::max(0.0, rig_.burst_bytes), link->credit + elapsed_s * rig_.server_rate);
    return;
  }
  link->busy_s += elapsed_s;
  for (Flow& f : link->flows) {
    f.left = std::max(0.0, f.left - f.rate * elapsed_s);
    link->carried += f.rate * elapsed_s;
  }
}

double Network::spend_credit(Link* link, double bytes) {
  const double at_once = std::min(link->credit, bytes);
  link->credit -= at_once;
  link->carried += at_once;
  return at_once;
}

void Network::find_finish(size_t index) {
  Link& link = links_[index];
  double finish_s = kNever;
  for (const Flow& f : link.flows) {
    const double at_s = link.then_s + f.left / f.rate;
    if (at_s < finish_s) {
      finish_s = at_s;
      link.finisher = f.worker;
    }
  }
  next_.set(index, finish_s);
}

void Network::share(int32_t index) {
  Link& link = links_[static_cast<size_t>(index)];
  const bool tcp = rig_.sharing == Sharing::tcp;
  double total = 0, rank = 1;
  for (Flow& f : link.flows) {
    f.rate = tcp ? f.weight * rank : 1.0;
    rank *= rig_.newcomer;
    total += f.rate;
  }
  for (Flow& f : link.flows) f.rate = f.rate * capacity(index) / total;
  find_finish(static_cast<size_t>(index));
}

void Network::share_all() {
  const size_t links = links_.size();
  std::vector<double> room(links);
  for (size_t l = 0; l < links; ++l) room[l] = capacity(static_cast<int32_t>(l));
  if (workers_limit_) room.resize(links + 2 * static_cast<size_t>(workers_), rig_.worker_rate);
  flows_.clear();
  turns_.clear();
  for (size_t l = 0; l < links; ++l) {
    double rank = 1;
    int32_t turn = 0;
    for (const Flow& f : links_[l].flows) {
      const size_t own = links + 2 * static_cast<size_t>(f.worker) + l % 2;
      flows_.push_back({l, workers_limit_ ? own : SharedFlow::kNoLink});
      if (rig_.sharing != Sharing::tcp) continue;
      flows_.back().weight = f.weight * rank;
      rank = std::max(kLeastRank, rank * rig_.newcomer);
      turns_.push_back(turn++);
    }
  }
  if (rig_.sharing == Sharing::round_trip) {
    share_by_round_trip(room, &flows_);
  } else if (rig_.sharing == Sharing::alpha_fair) {
    share_alpha_fair(room, rig_.sharing_exponent, kAlphaRounds, &prices_, &flows_);
  } else if (rig_.sharing == Sharing::tcp && rig_.newcomer == 0) {
    share_in_turn(room, turns_, &flows_);
  } else {
    share_max_min(room, &flows_);
  }
  size_t at = 0;
  for (size_t l = 0; l < links; ++l) {
    for (Flow& f : links_[l].flows) f.rate = flows_[at++].rate;
    find_finish(l);
  }
}

void Network::update(int32_t index, bool border, double now_s) {
  const bool all_links = workers_limit_ || rig_.sharing == Sharing::max_min ||
                         rig_.sharing == Sharing::round_trip || rig_.sharing == Sharing::alpha_fair;
  if (all_links) {
    for (Link& link : links_) advance(&link, now_s);
    share_all();
    return;
  }
  share(index);
  if (!border || rig_.duplex_loss == 0) return;
  Link& reverse = links_[static_cast<size_t>(index ^ 1)];
  if (reverse.flows.empty()) return;
  advance(&reverse, now_s);
  share(index ^ 1);
}

void Network::offer(int32_t index, int32_t worker, double bytes, double now_s) {
  if (!has_queues()) return;
  const auto l = static_cast<size_t>(index);
  queues_[l].offer(worker, bytes, now_s);
  next_.set(l, queues_[l].next_s());
}

void Network::start(int32_t index, int32_t worker, double bytes, double now_s) {
  if (has_queues()) return extend(index, worker, bytes, now_s);
  Link& link = links_[static_cast<size_t>(index)];
  advance(&link, now_s);
  const double weight =
      rig_.share_spread > 0 ? std::exp(rig_.share_spread * normal(&random_)) : 1.0;
  link.flows.push_back({worker, bytes - spend_credit(&link, bytes), 0, weight});
  update(index, link.flows.size() == 1, now_s);
}

void Network::extend(int32_t index, int32_t worker, double bytes, double now_s) {
  const auto l = static_cast<size_t>(index);
  if (has_queues()) {
    queues_[l].expect(worker, bytes, now_s);
    next_.set(l, queues_[l].next_s());
    return;
  }
  Link& link = links_[l];
  advance(&link, now_s);
  std::ranges::find(link.flows, worker, &Flow::worker)->left = bytes - spend_credit(&link, bytes);
  find_finish(l);
}

void Network::stop(int32_t index, int32_t worker, double now_s) {
  if (has_queues()) return;
  Link& link = links_[static_cast<size_t>(index)];
  advance(&link, now_s);
  link.flows.erase(std::ranges::find(link.flows, worker, &Flow::worker));
  update(index, link.flows.empty(), now_s);
}

Network::Arrival Network::happen() {
  const int32_t link = next_.index();
  const auto l = static_cast<size_t>(link);
  if (!has_queues()) return {link, links_[l].finisher};
  const int32_t worker = queues_[l].happen();
  next_.set(l, queues_[l].next_s());
  return {link, worker};
}

double Network::queued_s(int32_t link, int32_t worker, double now_s) const {
  return queues_[static_cast<size_t>(link)].queued_bytes(now_s) / rig_.server_rate +
         own_.wait_s(worker, link % 2, now_s);
}

double Network::bytes_carried(int32_t link) const {
  const auto l = static_cast<size_t>(link);
  return has_queues() ? queues_[l].carried() : links_[l].carried;
}

double Network::busy_s(int32_t link) const {
  const auto l = static_cast<size_t>(link);
  return has_queues() ? queues_[l].busy_s() : links_[l].busy_s;
}

double Network::rate(int32_t link, int32_t worker) const {
  return std::ranges::find(links_[static_cast<size_t>(link)].flows, worker, &Flow::worker)->rate;
}

}  // namespace penstock::cluster
