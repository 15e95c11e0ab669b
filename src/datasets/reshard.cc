#include "datasets/reshard.h"

#include <algorithm>
#include <numeric>

#include "plan/noop.h"

namespace penstock {
namespace {

[[noreturn]] void refuse(const std::string& what) { throw Error(Code::failed_precondition, what); }

Rank rank_of(const PlanNode& shard) {
  return {shard.arg("num_shards").as_int(), shard.arg("index").as_int()};
}

// The plan with other arguments of its shard.
PlanPtr plan_of_rank(const PlanPtr& plan, const PlanNode& shard, const Rank& r) {
  if (plan.get() != &shard) return with_inputs(*plan, {plan_of_rank(plan->inputs[0], shard, r)});
  Attrs args = shard.args;
  args.set("num_shards", Attr::integer(r.ranks));
  args.set("index", Attr::integer(r.rank));
  return make_node(*shard.op, shard.inputs, std::move(args), {}, shard.span);
}

std::string ranks_text(int64_t n) { return std::to_string(n) + (n == 1 ? " rank" : " ranks"); }

// One checkpoint of each rank, in the order of the ranks; texts by rank.
std::vector<const RankCheckpoint*> by_rank(const std::vector<RankCheckpoint>& checkpoints,
                                           const PlanPtr& written, const PlanNode& shard) {
  std::vector<const RankCheckpoint*> out;
  int64_t ranks = 0;
  for (const RankCheckpoint& c : checkpoints) {
    const std::optional<SavedShard> at = saved_shard(c.text, *written, shard, c.name);
    if (!at) {
      parse_checkpoint(c.text, *written, c.name);
      refuse(c.name + ": the pipeline of this checkpoint has no `shard` there");
    }
    if (out.empty()) out.resize(static_cast<size_t>(ranks = at->num_shards));
    if (at->num_shards != ranks) {
      refuse(c.name + ": this checkpoint is of " + ranks_text(at->num_shards) + ", " +
             checkpoints[0].name + " of " + ranks_text(ranks));
    }
    const RankCheckpoint*& slot = out[static_cast<size_t>(at->index)];
    if (slot) {
      refuse(c.name + ": this checkpoint is of rank " + std::to_string(at->index) + ", as is " +
             slot->name);
    }
    slot = &c;
  }
  const auto missing = std::ranges::find(out, nullptr);
  if (missing != out.end()) {
    refuse("there were " + ranks_text(ranks) + ", the checkpoint of rank " +
           std::to_string(missing - out.begin()) + " is missing: give those of all ranks");
  }
  return out;
}

constexpr int64_t kMostApart = int64_t{1} << 27;  // elements that may be listed one by one
constexpr int64_t kMostPeriod = int64_t{1} << 20;

// All that is left of a pass.
Share joined(const std::vector<PassRest>& parts) {
  Share out;
  for (const PassRest& p : parts) {
    const int64_t listed = p.share.listed.empty() ? 0 : p.share.listed.back() + 1;
    out.tail = std::max({out.tail, p.share.tail, listed});
    if (!p.share.residues.empty()) out.period = std::lcm(out.period, p.share.period);
    if (std::max(out.period, p.share.period) > kMostPeriod)
      refuse("the number of ranks has changed too often in one pass");
  }
  for (const PassRest& p : parts) {
    if (p.share.count(0, out.tail) > kMostApart - static_cast<int64_t>(out.listed.size()))
      refuse("the ranks stand too far apart: more than 2^27 elements");
    for (auto row = p.share.next(0); row && *row < out.tail; row = p.share.next(*row + 1))
      out.listed.push_back(*row);
    for (int64_t base = 0; base < out.period; base += p.share.period) {
      for (const int64_t r : p.share.residues) out.residues.push_back(base + r);
    }
  }
  std::ranges::sort(out.listed);
  std::ranges::sort(out.residues);
  if (std::ranges::adjacent_find(out.listed) != out.listed.end() ||
      std::ranges::adjacent_find(out.residues) != out.residues.end())
    refuse("the checkpoints are not of one run: two of them have the same element left");
  return out;
}

// Deals the remaining rows round-robin: the rank gets every ranks-th, from its own on.
PassRest dealt(const std::vector<PassRest>& parts, const Rank& to) {
  const Share all = joined(parts);
  PassRest out;
  out.share.tail = all.tail;
  int64_t place = 0;
  for (const int64_t row : all.listed) {
    if (place++ % to.ranks == to.rank) out.share.listed.push_back(row);
  }
  out.share.period = all.period * to.ranks;
  if (out.share.period > kMostPeriod)
    refuse("the number of ranks has changed too often in one pass");
  std::optional<int64_t> row = all.next(all.tail);
  for (; row && *row < all.tail + out.share.period; row = all.next(*row + 1)) {
    if (place++ % to.ranks == to.rank) out.share.residues.push_back(*row % out.share.period);
  }
  std::ranges::sort(out.share.residues);
  out.share.simplify();
  const int64_t first = out.share.next(0).value_or(all.tail);
  for (const PassRest& p : parts) {
    for (const auto& [at, rest] : p.opened)
      if (std::ranges::binary_search(out.share.listed, at)) out.opened.emplace(at, rest);
    if (p.begin < out.begin || p.begin > first) continue;
    out.begin = p.begin;
    out.input = p.input;
  }
  return out;
}

// Of passes from `first` on, as long as any rank had begun or ended one.
std::vector<PassRest> dealt_passes(const std::vector<RankRest>& left, int64_t first,
                                   const Rank& to) {
  int64_t end = 0;
  for (const RankRest& r : left)
    end = std::max(end, r.pass + static_cast<int64_t>(r.passes.size()));
  std::vector<PassRest> out;
  for (int64_t pass = first; pass < end; ++pass) {
    std::vector<PassRest> parts;
    for (size_t i = 0; i < left.size(); ++i) {
      const RankRest& r = left[i];
      if (pass < r.pass) continue;  // it has had its part
      const auto ahead = static_cast<size_t>(pass - r.pass);
      const Share whole =
          Share::of_shard(static_cast<int64_t>(left.size()), static_cast<int64_t>(i));
      parts.push_back(ahead < r.passes.size() ? r.passes[ahead] : PassRest{whole, 0, {}, {}});
    }
    out.push_back(dealt(parts, to));
  }
  return out;
}

}  // namespace

StreamPosition NewRank::of(const PlanNode& node, size_t pass) const {
  if (passes_marks(node)) return of(*node.inputs[0], pass);
  if (!node.op->deals_rows) return node.op->resharding->anew(*this, node, pass);
  const PassRest& rest = passes_[pass];
  const ShardMark mark = rest.share.mark(Share::of_shard(rank_.ranks, rank_.rank), rest.begin);
  return {make_mark(nullptr, node.op->name, mark, std::span(&rest.input, 1)), 0};
}

SavedRun deal_anew(const std::vector<RankCheckpoint>& checkpoints, const PlanPtr& written,
                   const PlanPtr& to_run, const RunOptions& options) {
  const PlanNode& shard = resharded_shard(*written);
  const auto ordered = by_rank(checkpoints, written, shard);
  SavedRun out;
  std::vector<RankRest> left;
  for (size_t i = 0; i < ordered.size(); ++i) {
    const Rank rank{std::ssize(ordered), static_cast<int64_t>(i)};
    const PlanPtr plan = plan_of_rank(written, shard, rank);
    const SavedRun saved = parse_checkpoint(ordered[i]->text, *plan, ordered[i]->name);
    if (i == 0) out.from.iterator = saved.from.iterator;
    if (saved.from.iterator != out.from.iterator) {
      refuse(ordered[i]->name + ": this checkpoint is of iterator " +
             std::to_string(saved.from.iterator) + " over its pipeline, " + ordered[0]->name +
             " of " + std::to_string(out.from.iterator));
    }
    left.push_back(Descent(saved.from, options).run(plan));
  }
  const Rank to = rank_of(shard);
  const int64_t first = std::ranges::min(left, {}, &RankRest::pass).pass;
  out.from.position = NewRank(to, first, dealt_passes(left, first, to)).of(*to_run);
  return out;
}

}  // namespace penstock
