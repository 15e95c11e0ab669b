#include "datasets/reshard.h"

#include <algorithm>
#include <numeric>

#include "datasets/undelivered.h"
#include "plan/noop.h"

namespace penstock {
namespace {

[[noreturn]] void refuse(const std::string& what) { throw Error(Code::failed_precondition, what); }

struct Rank {
  int64_t ranks, rank;
};

Rank rank_of(const PlanNode& shard) {
  return {shard.arg("num_shards").as_int(), shard.arg("index").as_int()};
}

// The plan with other arguments of its shard.
PlanPtr plan_of_rank(const std::vector<PlanPtr>& stages, const Rank& r) {
  Attrs args = stages.back()->args;
  args.set("num_shards", Attr::integer(r.ranks));
  args.set("index", Attr::integer(r.rank));
  const PlanNode& shard = *stages.back();
  PlanPtr out = make_node(*shard.op, shard.inputs, std::move(args), {}, shard.span);
  for (size_t i = stages.size() - 1; i-- > 0;) out = with_inputs(*stages[i], {out});
  return out;
}

std::string ranks_text(int64_t n) { return std::to_string(n) + (n == 1 ? " rank" : " ranks"); }

// One checkpoint of each rank, in the order of the ranks; texts by rank.
std::vector<const RankCheckpoint*> by_rank(const std::vector<RankCheckpoint>& checkpoints,
                                           const PlanPtr& written, size_t shard_place) {
  std::vector<const RankCheckpoint*> out;
  int64_t ranks = 0;
  for (const RankCheckpoint& c : checkpoints) {
    const std::optional<SavedShard> at = saved_shard(c.text, shard_place, c.name);
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

// Every ranks-th of what is left, from the rank's own on.
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

// The place of a stage of the new rank: shard and repeat where they are to go on, others fresh.
class Places {
 public:
  Places(const Rank& rank, int64_t first_pass, std::vector<PassRest> passes)
      : rank_(rank), first_pass_(first_pass), passes_(std::move(passes)) {}

  StreamPosition of(const PlanNode& node, size_t pass = 0) const {
    if (node.op->resharding == Resharding::shard) {
      const PassRest& rest = passes_[pass];
      return marked(node, rest.share.numbers(Share::of_shard(rank_.ranks, rank_.rank), rest.begin),
                    {rest.input});
    }
    const PlanNode& input = *node.inputs[0];
    if (passes_marks(node)) return of(input, pass);
    const Resharding how = resharding_of(node);
    if (how == Resharding::opened) return of_opened(node, pass);
    if (how != Resharding::repeated) return marked(node, node.op->first_mark, {of(input, pass)});
    std::vector<StreamPosition> inputs;
    for (size_t p = 0; p < passes_.size(); ++p) inputs.push_back(of(input, p));
    return marked(node, {first_pass_, 1}, inputs);
  }

 private:
  // No dataset is open, but for some that come it is known what is left.
  StreamPosition of_opened(const PlanNode& node, size_t pass) const {
    std::vector<StreamPosition> positions{of(*node.inputs[0], pass)};
    std::vector<int64_t> numbers = node.op->first_mark;
    InnerRests rests;
    for (const auto& [row, rest] : passes_[pass].opened) rests.insert(rest);
    if (!rests.empty() || numbers.empty()) {
      numbers = {~int64_t{0}, 0, 0, 0};
      put_rests(rests, &numbers, &positions);
    }
    return marked(node, numbers, positions);
  }

  static StreamPosition marked(const PlanNode& node, const std::vector<int64_t>& numbers,
                               const std::vector<StreamPosition>& inputs) {
    return {std::make_shared<const StageMark>(nullptr, node.op->name, numbers, inputs), 0};
  }

  const Rank rank_;
  const int64_t first_pass_;
  const std::vector<PassRest> passes_;
};

}  // namespace

SavedRun deal_anew(const std::vector<RankCheckpoint>& checkpoints, const PlanPtr& written,
                   const PlanPtr& to_run, const RunOptions& options) {
  const std::vector<PlanPtr> stages = stages_to_shard(written);
  const std::vector<const PlanNode*> all = topological(*written);
  const auto shard_place =
      static_cast<size_t>(std::ranges::find(all, stages.back().get()) - all.begin());
  const auto ordered = by_rank(checkpoints, written, shard_place);
  SavedRun out;
  std::vector<RankRest> left;
  for (size_t i = 0; i < ordered.size(); ++i) {
    const Rank rank{static_cast<int64_t>(ordered.size()), static_cast<int64_t>(i)};
    const PlanPtr plan = plan_of_rank(stages, rank);
    const SavedRun saved = parse_checkpoint(ordered[i]->text, *plan, ordered[i]->name);
    if (i == 0) out.from.iterator = saved.from.iterator;
    if (saved.from.iterator != out.from.iterator) {
      refuse(ordered[i]->name + ": this checkpoint is of iterator " +
             std::to_string(saved.from.iterator) + " over its pipeline, " + ordered[0]->name +
             " of " + std::to_string(out.from.iterator));
    }
    left.push_back(undelivered(stages_to_shard(plan), saved.from, options));
  }
  const Rank to = rank_of(*stages.back());
  const int64_t first = std::ranges::min(left, {}, &RankRest::pass).pass;
  out.from.position = Places(to, first, dealt_passes(left, first, to)).of(*to_run);
  return out;
}

}  // namespace penstock
