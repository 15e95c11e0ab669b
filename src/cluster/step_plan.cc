// A plan is made once per profiled step and read by many simulated steps, so its layout favours
// reading: successors of all ops lie in one array, dependencies are counters only.
//
// add_op() adds the costs around an op as ops of their own (server computing per transfer, the
// delay from last byte to use), so that the simulator knows transfers, computing and delays only.
//
// contract() removes ops that take no time: recordings have many (control nodes, identities), and
// each would cost an event. An op with `in` dependencies and `out` successors is replaced by in *
// out edges, so it goes only if that is not more than in + out.
#include "cluster/step_plan.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace penstock::cluster {
namespace {

using Kind = PlannedOp::Kind;

// The graph during construction.
struct Draft {
  std::vector<PlannedOp> ops;
  std::vector<std::vector<int32_t>> deps;

  int32_t add(Kind kind, int32_t place, double amount, double priority) {
    PlannedOp op;
    op.kind = amount > 0 || kind == Kind::transfer ? kind : Kind::none;
    op.place = place;
    op.amount = amount;
    op.priority = priority;
    ops.push_back(op);
    deps.emplace_back();
    return static_cast<int32_t>(ops.size()) - 1;
  }
  // Adds an op after `before`; returns `before` itself if the op would take no time.
  int32_t add_behind(int32_t before, Kind kind, int32_t place, double amount, double priority) {
    if (amount <= 0) return before;
    const int32_t i = add(kind, place, amount, priority);
    deps.back().push_back(before);
    return i;
  }
};

// Adds the op and the costs around it; sets its first and last planned op.
void add_op(const Op& op, const Rig& rig, Draft* draft, int32_t* first, int32_t* last) {
  const double recorded = std::max(0.0, is_transfer(op.resource) ? op.end_s : op.start_s);
  const double priority = op.priority >= 0 ? op.priority : recorded;
  if (!is_transfer(op.resource)) {
    const bool worker = op.resource == Resource::worker;
    const Kind kind = worker                            ? Kind::worker
                      : op.resource == Resource::server ? Kind::server
                                                        : Kind::none;
    *first = *last =
        draft->add(kind, op.server, op.duration_s * (worker ? rig.compute_factor : 1), priority);
    return;
  }
  const bool up = op.resource == Resource::uplink;
  const int32_t link = 2 * op.server + (up ? 1 : 0);
  const auto bytes = static_cast<double>(op.bytes);
  const double overhead_s = rig.receive_s + rig.receive_s_per_byte * bytes;
  if (!up && rig.server_transfer_s > 0) {
    *first = draft->add(Kind::server, op.server, rig.server_transfer_s, priority);
    *last = draft->add(Kind::transfer, link, bytes, priority);
    draft->deps.back().push_back(*first);
  } else {
    *first = *last = draft->add(Kind::transfer, link, bytes, priority);
  }
  if (up)
    *last = draft->add_behind(*last, Kind::server, op.server, rig.server_transfer_s, priority);
  *last = draft->add_behind(*last, Kind::delay, op.server, overhead_s, priority);
}

// Removes ops without work by passing their dependencies to their successors, if that adds no
// edges.
void contract(Draft* draft) {
  const size_t n = draft->ops.size();
  std::vector<int32_t> users(n, 0);
  for (const auto& deps : draft->deps) {
    for (const int32_t d : deps) ++users[static_cast<size_t>(d)];
  }
  std::vector<bool> gone(n, false);
  for (size_t i = 0; i < n; ++i) {
    const size_t in = draft->deps[i].size(), out = static_cast<size_t>(users[i]);
    gone[i] = draft->ops[i].kind == Kind::none && in * out <= in + out;
  }
  for (size_t i = 0; i < n; ++i) {  // deps come first
    std::vector<int32_t> deps;
    for (const int32_t d : draft->deps[i]) {
      if (!gone[static_cast<size_t>(d)]) {
        deps.push_back(d);
        continue;
      }
      const auto& through = draft->deps[static_cast<size_t>(d)];
      deps.insert(deps.end(), through.begin(), through.end());
    }
    std::ranges::sort(deps);
    deps.erase(std::unique(deps.begin(), deps.end()), deps.end());
    draft->deps[i] = std::move(deps);
  }
  std::vector<int32_t> number(n, -1);
  Draft kept;
  for (size_t i = 0; i < n; ++i) {
    if (gone[i]) continue;
    number[i] = static_cast<int32_t>(kept.ops.size());
    kept.ops.push_back(draft->ops[i]);
    for (int32_t& d : draft->deps[i]) d = number[static_cast<size_t>(d)];
    kept.deps.push_back(std::move(draft->deps[i]));
  }
  if (!kept.ops.empty()) *draft = std::move(kept);
}

// Sorts roots of a server by the transfers to which they lead, so that the first transfer finds the
// link free.
void sort_roots(StepPlan* plan) {
  std::vector<double> lead(plan->ops.size());
  for (size_t i = plan->ops.size(); i-- > 0;) {  // deps come first
    const PlannedOp& op = plan->ops[i];
    lead[i] = op.priority;
    if (op.kind == Kind::transfer || op.kind == Kind::worker || op.next_count == 0) continue;
    lead[i] = std::numeric_limits<double>::infinity();
    for (int32_t k = 0; k < op.next_count; ++k) {
      const auto next = static_cast<size_t>(plan->next[static_cast<size_t>(op.first_next + k)]);
      lead[i] = std::min(lead[i], lead[next]);
    }
  }
  const auto server = [&](int32_t root) { return server_of(plan->ops[static_cast<size_t>(root)]); };
  std::ranges::stable_sort(plan->roots, {}, [&](int32_t root) {
    return std::pair(server(root), lead[static_cast<size_t>(root)]);
  });
  for (size_t i = 0; i < plan->roots.size(); ++i) {
    if (i == 0 || server(plan->roots[i]) != server(plan->roots[i - 1]))
      plan->root_groups.push_back(static_cast<int32_t>(i));
  }
}

StepPlan flatten(const Draft& draft) {
  StepPlan out;
  out.ops = draft.ops;
  const size_t n = out.ops.size();
  for (size_t i = 0; i < n; ++i) {
    out.waits.push_back(static_cast<int32_t>(draft.deps[i].size()));
    for (const int32_t d : draft.deps[i]) ++out.ops[static_cast<size_t>(d)].next_count;
    if (out.waits[i] == 0) out.roots.push_back(static_cast<int32_t>(i));
    out.transfers += out.ops[i].kind == Kind::transfer;
    if (out.ops[i].kind == Kind::worker) out.worker_s += out.ops[i].amount;
    if (out.ops[i].kind == Kind::server) out.server_s += out.ops[i].amount;
  }
  int32_t at = 0;
  for (PlannedOp& op : out.ops) {
    op.first_next = at;
    at += std::exchange(op.next_count, 0);
  }
  out.next.resize(static_cast<size_t>(at));
  for (size_t i = 0; i < n; ++i) {
    for (const int32_t d : draft.deps[i]) {
      PlannedOp& before = out.ops[static_cast<size_t>(d)];
      out.next[static_cast<size_t>(before.first_next + before.next_count++)] =
          static_cast<int32_t>(i);
    }
  }
  return out;
}

}  // namespace

StepPlan plan_step(const Step& step, const Rig& rig) {
  Draft draft;
  std::vector<int32_t> last(step.ops.size(), -1);
  for (const int32_t i : topological_order(step)) {
    const Op& op = step.ops[static_cast<size_t>(i)];
    int32_t first = 0;
    add_op(op, rig, &draft, &first, &last[static_cast<size_t>(i)]);
    for (auto at = static_cast<size_t>(first); at < draft.ops.size(); ++at) {
      const bool transfer = draft.ops[at].kind == Kind::transfer;
      if (transfer || !is_transfer(op.resource)) draft.ops[at].source = i;
    }
    auto& deps = draft.deps[static_cast<size_t>(first)];
    for (const int32_t d : op.deps) deps.push_back(last[static_cast<size_t>(d)]);
  }
  contract(&draft);
  StepPlan out = flatten(draft);
  sort_roots(&out);
  return out;
}

}  // namespace penstock::cluster
