// Replays sampled steps of W workers as discrete events.
//
// Two event sources share one clock: the Network (bytes arrive) and the event heap (all else).
// run() takes the earlier one; on a tie the network goes first. All random numbers come from one
// stream in the order of events, so an outcome depends on the arguments only: events of equal time
// must stay in the order of their creation.
//
// A step starts with a request to each server over the worker's uplink. Ops without dependencies
// (roots) of a server start when its request arrives; roots of the worker start at once. After the
// last op the worker waits for the answer of the slowest server, then for the gap between steps.
// docs/cluster-model.md has the errors with and without the waits of requests and answers.
//
// A transfer crosses three layers: Connection decides which piece goes next, Network how fast, and
// done() starts the ops that wait for it. A piece that follows another one keeps the slot on its
// link (`holds`): a worker's share ends only when its connection has nothing left to send.
#include "cluster/simulator.h"

#include <algorithm>
#include <cmath>
#include <deque>

#include "base/error.h"
#include "cluster/connection.h"
#include "cluster/event_heap.h"
#include "cluster/network.h"

namespace penstock::cluster {
namespace {

using Kind = PlannedOp::Kind;

constexpr int32_t kBegin = -1;  // in the field of an op: the worker's next step begins
constexpr int32_t kEnd = -2;    // the worker's last answer has arrived
constexpr int32_t kFed = -3;    // the input of its next step is there
constexpr int32_t kAsked = -4;  // and below: the request for root group kAsked - e.op has arrived
constexpr int32_t kCredit = 1 << 30;  // and above: credit arrives for link e.op - kCredit

struct Worker {
  const StepPlan* plan = nullptr;
  std::vector<int32_t> waits;
  int32_t left = 0;
  int32_t free_lanes = 1;
  WaitingQueue lanes;
  std::vector<Connection> connections;  // by link
  int32_t step = 0;                     // number of the current step
  int32_t shared_step = 0;              // number of the common step, with a barrier
  int32_t plan_index = 0;
  std::vector<double> began_s;   // by op; only when recording
  std::vector<double> served_s;  // by server: when it finished its last op of this step so far
};

struct Server {
  int32_t free_cores = 0;
  std::deque<std::pair<int32_t, int32_t>> queue;  // worker, op
};

// Returns the most bytes that a step sends over one link.
double most_step_bytes(const std::vector<std::vector<StepPlan>>& kinds, int32_t servers) {
  double most = 0;
  std::vector<double> bytes;  // by link
  for (const std::vector<StepPlan>& plans : kinds) {
    for (const StepPlan& plan : plans) {
      bytes.assign(2 * static_cast<size_t>(servers), 0);
      for (const PlannedOp& op : plan.ops) {
        if (op.kind != Kind::transfer) continue;
        double& sum = bytes[static_cast<size_t>(op.place)];
        most = std::max(most, sum += op.amount);
      }
    }
  }
  return most;
}

class Simulator {
 public:
  Simulator(const std::vector<std::vector<StepPlan>>& kinds, const Rig& rig, const Run& run)
      : kinds_(kinds),
        rig_(rig),
        run_(run),
        network_(rig, run.workers, run.servers, run.seed, most_step_bytes(kinds, run.servers)),
        random_(run.seed, 0, 0x73696d),
        workers_(static_cast<size_t>(run.workers)),
        servers_(static_cast<size_t>(run.servers)),
        under_way_(2 * servers_.size()),
        asked_s_(servers_.size()) {
    for (Worker& w : workers_) {
      w.free_lanes = rig.worker_lanes;
      w.connections.resize(2 * servers_.size());
      w.served_s.resize(servers_.size());
    }
    for (Server& s : servers_) s.free_cores = rig.server_cores;
    for (int32_t w = 0; run.feed.rate > 0 && w < run.workers; ++w)
      feeds_.emplace_back(run.feed, run.seed, w);
    out_.step_ends_s.resize(run.barrier ? 1 : workers_.size());
    out_.server_s.resize(servers_.size());
  }

  Outcome run() {
    for (int32_t w = 0; w < run_.workers; ++w)
      at(rig_.stagger_s * (w + random_.next_double()), w, kBegin);
    behind_ = run_.barrier ? 1 : run_.workers;
    while (behind_ > 0) {
      if (const double next_s = network_.next_s();
          events_.empty() || next_s <= events_.top().time_s) {
        now_s_ = next_s;
        const Network::Arrival a = network_.happen();
        if (a.worker >= 0) arrived(a.link, a.worker);
      } else {
        const Event e = events_.pop();
        now_s_ = e.time_s;
        happen(e);
      }
    }
    out_.end_s = now_s_;
    for (int32_t l = 0; l < 2 * run_.servers; ++l) {
      out_.link_bytes.push_back(network_.bytes_carried(l));
      out_.link_busy_s.push_back(network_.busy_s(l));
    }
    double taken = 0, waited = 0;
    for (const FeedQueue& f : feeds_) {
      taken += static_cast<double>(f.taken());
      waited += static_cast<double>(f.waited());
    }
    if (taken > 0) out_.starved = waited / taken;
    return std::move(out_);
  }

 private:
  Worker& worker(int32_t w) { return workers_[static_cast<size_t>(w)]; }
  static const PlannedOp& op_of(const Worker& w, int32_t op) {
    return w.plan->ops[static_cast<size_t>(op)];
  }
  void at(double time_s, int32_t w, int32_t op) { events_.push({time_s, order_++, w, op}); }

  void happen(const Event& e) {
    if (e.op == kBegin) return begin(e.worker);
    if (e.op == kEnd) return end(e.worker);
    if (e.op == kFed) return start(e.worker);
    if (e.op <= kAsked) return asked(e.worker, static_cast<size_t>(kAsked - e.op));
    if (e.op >= kCredit) return credit(e.op - kCredit, e.worker);
    const PlannedOp& op = op_of(worker(e.worker), e.op);
    if (op.kind == Kind::worker) {
      ++worker(e.worker).free_lanes;
      done(e.worker, e.op);
      feed_lanes(e.worker);
    } else if (op.kind == Kind::server && rig_.server_cores > 0) {
      const int32_t server = op.place;
      ++servers_[static_cast<size_t>(server)].free_cores;
      done(e.worker, e.op);
      feed_cores(server);
    } else {
      done(e.worker, e.op);
    }
  }

  // Returns the delay of one message on a link: time in the queue, plus a random scheduling delay.
  // Without queues, bytes that other workers have in flight stand for the queue.
  double message_wait_s(int32_t link, int32_t w) {
    if (rig_.queue_bytes == 0) return 0;
    const double before_s = network_.has_queues()
                                ? network_.queued_s(link, w, now_s_)
                                : std::min(rig_.queue_bytes, under_way_[static_cast<size_t>(link)] -
                                                                 connection(link, w).bytes()) /
                                      rig_.server_rate;
    if (before_s * rig_.server_rate < 1) return 0;
    const double drawn = rig_.message_wait_s > 0 ? -std::log(1 - random_.next_double()) : 0;
    return rig_.queue_filled * before_s + drawn * rig_.message_wait_s;
  }

  // Begins a step as soon as its input is there.
  void begin(int32_t w) {
    const double fed_s = feeds_.empty() ? now_s_ : feeds_[static_cast<size_t>(w)].take(now_s_);
    if (fed_s <= now_s_) return start(w);
    at(fed_s, w, kFed);
  }

  // Starts a step: sends a request to each server over the worker's uplink. An op that waits for
  // the request starts when it arrives.
  void start(int32_t w) {
    Worker& me = worker(w);
    const auto& plans = kinds_[static_cast<size_t>(w) % kinds_.size()];
    me.plan_index = static_cast<int32_t>(random_.next_below(plans.size()));
    me.plan = &plans[static_cast<size_t>(me.plan_index)];
    if (run_.record) me.began_s.assign(me.plan->ops.size(), -1);
    me.waits = me.plan->waits;
    me.left = static_cast<int32_t>(me.waits.size());
    for (int32_t s = 0; s < run_.servers; ++s)
      asked_s_[static_cast<size_t>(s)] = message_wait_s(2 * s + 1, w);
    std::ranges::fill(me.served_s, now_s_);
    for (size_t group = 0; group < me.plan->root_groups.size(); ++group) {
      const auto first = static_cast<size_t>(me.plan->root_groups[group]);
      const int32_t server = server_of(op_of(me, me.plan->roots[first]));
      const double wait_s = server < 0 ? 0 : asked_s_[static_cast<size_t>(server)];
      if (wait_s > 0) {
        at(now_s_ + wait_s, w, kAsked - static_cast<int32_t>(group));
      } else {
        asked(w, group);
      }
    }
  }

  // Starts the roots of a group: its server has received the request.
  void asked(int32_t w, size_t group) {
    const StepPlan& plan = *worker(w).plan;
    const size_t next = group + 1;
    const auto end = next < plan.root_groups.size() ? static_cast<size_t>(plan.root_groups[next])
                                                    : plan.roots.size();
    for (auto i = static_cast<size_t>(plan.root_groups[group]); i < end; ++i)
      ready(w, plan.roots[i]);
  }

  // Returns when the worker knows that all servers have finished their part of the step.
  double answered_s(int32_t w) {
    double out = now_s_;
    for (int32_t s = 0; s < run_.servers; ++s)
      out = std::max(out, worker(w).served_s[static_cast<size_t>(s)] + message_wait_s(2 * s, w));
    return out;
  }

  void end(int32_t w) {
    ++worker(w).step;
    if (run_.barrier) return meet(w);
    auto& ends = out_.step_ends_s[static_cast<size_t>(w)];
    ends.push_back(now_s_);
    if (ends.size() == static_cast<size_t>(run_.steps)) --behind_;
    begin(w);
  }

  // Waits at the barrier with the other workers that are in time; a late worker joins the current
  // step.
  void meet(int32_t w) {
    auto& ends = out_.step_ends_s[0];
    Worker& me = worker(w);
    const bool late = me.shared_step < static_cast<int32_t>(ends.size());
    me.shared_step = static_cast<int32_t>(ends.size());
    if (late) return begin(w);
    waiting_.push_back(w);
    if (waiting_.size() < workers_.size() - static_cast<size_t>(run_.backups)) return;
    ends.push_back(now_s_);
    if (ends.size() == static_cast<size_t>(run_.steps)) --behind_;
    for (const int32_t other : waiting_) {
      worker(other).shared_step = static_cast<int32_t>(ends.size());
      begin(other);
    }
    waiting_.clear();
  }

  void mark(int32_t w, int32_t op) {
    if (!run_.record) return;
    double& began_s = worker(w).began_s[static_cast<size_t>(op)];
    if (began_s < 0) began_s = now_s_;
  }

  void record(int32_t w, int32_t i) {
    const Worker& me = worker(w);
    const PlannedOp& op = op_of(me, i);
    const double began_s = me.began_s[static_cast<size_t>(i)];
    if (op.kind == Kind::none || op.kind == Kind::delay || began_s < 0) return;
    out_.spans.push_back(
        {w, me.step, op.kind, op.place, op.source, me.plan_index, began_s, now_s_, op.amount});
  }

  void ready(int32_t w, int32_t i) {
    Worker& me = worker(w);
    const PlannedOp& op = op_of(me, i);
    switch (op.kind) {
      case Kind::none: at(now_s_, w, i); break;
      case Kind::delay: at(now_s_ + op.amount, w, i); break;
      case Kind::worker:
        out_.worker_s += op.amount;
        if (me.free_lanes > 0 && me.lanes.empty()) return compute(w, i);
        me.lanes.push({0, op.priority, i, 0});
        feed_lanes(w);
        break;
      case Kind::server:
        out_.server_s[static_cast<size_t>(op.place)] += op.amount;
        if (rig_.server_cores == 0) {
          mark(w, i);
          at(now_s_ + op.amount, w, i);
          break;
        }
        if (Server& s = servers_[static_cast<size_t>(op.place)];
            s.free_cores > 0 && s.queue.empty()) {
          serve(&s, w, i);
        } else {
          s.queue.emplace_back(w, i);
          feed_cores(op.place);
        }
        break;
      case Kind::transfer: {
        Connection& c = connection(op.place, w);
        under_way_[static_cast<size_t>(op.place)] += op.amount;
        c.add(rig_.scheduler, i, op.priority, op.amount);
        if (!has_flow_control()) network_.offer(op.place, w, op.amount, now_s_);
        if (!c.busy()) send(op.place, w, false);
        break;
      }
    }
  }

  Connection& connection(int32_t link, int32_t w) {
    return worker(w).connections[static_cast<size_t>(link)];
  }

  void compute(int32_t w, int32_t op) {
    --worker(w).free_lanes;
    mark(w, op);
    at(now_s_ + op_of(worker(w), op).amount, w, op);
  }

  void feed_lanes(int32_t w) {
    Worker& me = worker(w);
    while (me.free_lanes > 0 && !me.lanes.empty()) {
      const int32_t op = me.lanes.top().op;
      me.lanes.pop();
      compute(w, op);
    }
  }

  void serve(Server* server, int32_t w, int32_t op) {
    --server->free_cores;
    mark(w, op);
    at(now_s_ + op_of(worker(w), op).amount, w, op);
  }

  void feed_cores(int32_t s) {
    Server& server = servers_[static_cast<size_t>(s)];
    while (server.free_cores > 0 && !server.queue.empty()) {
      const auto [w, op] = server.queue.front();
      server.queue.pop_front();
      serve(&server, w, op);
    }
  }

  // Returns whether a sender may offer only bytes for which it has credit.
  bool has_flow_control() const { return rig_.scheduler.credit_s >= 0; }

  // Starts the connection's next piece. `holds`: the previous piece's slot on the link is kept.
  void send(int32_t link, int32_t w, bool holds) {
    Connection& c = connection(link, w);
    const double piece = c.send(rig_.scheduler);
    if (!c.busy()) {
      if (holds) network_.stop(link, w, now_s_);
      return;
    }
    mark(w, c.op());
    if (has_flow_control()) network_.offer(link, w, piece, now_s_);
    if (holds) {
      network_.extend(link, w, piece, now_s_);
    } else {
      network_.start(link, w, piece, now_s_);
    }
  }

  void arrived(int32_t link, int32_t w) {
    const Connection::Arrived piece = connection(link, w).arrived(rig_.scheduler);
    under_way_[static_cast<size_t>(link)] -= piece.bytes;
    if (has_flow_control())
      at(now_s_ + rig_.scheduler.credit_s + message_wait_s(link ^ 1, w), w, kCredit + link);
    send(link, w, true);
    if (piece.op >= 0) done(w, piece.op);
  }

  void credit(int32_t link, int32_t w) {
    Connection& c = connection(link, w);
    c.credited(rig_.scheduler);
    if (!c.busy()) send(link, w, false);
  }

  void done(int32_t w, int32_t i) {
    Worker& me = worker(w);
    const PlannedOp& op = op_of(me, i);
    if (run_.record) record(w, i);
    if (const int32_t server = server_of(op); server >= 0)
      me.served_s[static_cast<size_t>(server)] = now_s_;
    for (int32_t k = 0; k < op.next_count; ++k) {
      const int32_t next = me.plan->next[static_cast<size_t>(op.first_next + k)];
      if (--me.waits[static_cast<size_t>(next)] == 0) ready(w, next);
    }
    if (--me.left > 0) return;
    const double gap_s = rig_.step_gap_s + rig_.step_gap_transfer_s * me.plan->transfers;
    at(answered_s(w) + gap_s, w, kEnd);
  }

  const std::vector<std::vector<StepPlan>>& kinds_;
  const Rig& rig_;
  const Run& run_;
  Network network_;
  RandomStream random_;
  std::vector<Worker> workers_;
  std::vector<Server> servers_;
  std::vector<FeedQueue> feeds_;  // by worker; empty without a limit
  EventHeap events_;
  uint64_t order_ = 0;
  double now_s_ = 0;
  int32_t behind_ = 0;             // number of workers that have not ended run_.steps steps
  std::vector<int32_t> waiting_;   // at the barrier
  std::vector<double> under_way_;  // by link: bytes of all workers' transfers that have not arrived
  std::vector<double> asked_s_;    // by server: delay of the request of the step that begins
  Outcome out_;
};

void check(const std::vector<std::vector<StepPlan>>& kinds, const Rig& rig, const Run& run) {
  const auto positive = [](const char* what, double value) {
    if (!(value > 0)) {
      throw Error(Code::invalid_argument,
                  std::string("predict: ") + what + " must be positive: " + std::to_string(value));
    }
  };
  positive("the link rate", rig.server_rate);
  positive("workers", run.workers);
  positive("servers", run.servers);
  positive("steps", run.steps);
  positive("kinds of workers", static_cast<double>(kinds.size()));
  for (const auto& plans : kinds) positive("profiled steps", static_cast<double>(plans.size()));
  if (run.backups < 0 || run.backups >= run.workers) {
    throw Error(Code::invalid_argument, "predict: backup workers must be fewer than the " +
                                            std::to_string(run.workers) +
                                            " workers: " + std::to_string(run.backups));
  }
}

}  // namespace

Outcome simulate(const std::vector<StepPlan>& plans, const Rig& rig, const Run& run) {
  return simulate_kinds({plans}, rig, run);
}

Outcome simulate_kinds(const std::vector<std::vector<StepPlan>>& kinds, const Rig& rig,
                       const Run& run) {
  check(kinds, rig, run);
  return Simulator(kinds, rig, run).run();
}

}  // namespace penstock::cluster
