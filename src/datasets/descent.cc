// A checkpoint has the position of its last stage, and its marks the positions of the stages below,
// some rows before. Each stage's Resharding turns one into the other, with rows emitted again where
// the mark does not tell.

#include "datasets/descent.h"

#include <algorithm>

#include "datasets/repeat.h"
#include "plan/noop.h"
#include "runtime/indexed.h"
#include "runtime/serial.h"

namespace penstock {
namespace {

void check_stage(const PlanNode& node, const MarkPtr& mark) {
  if (!mark || passes_marks(node) || stage_mark(mark)->stage() == node.op->name) return;
  throw Error(Code::failed_precondition, "the checkpoint was taken behind `" +
                                             stage_mark(mark)->stage() +
                                             "`, here the pipeline has `" + node.op->name + "`");
}

Share share_at(const PlanNode& shard, const MarkPtr& mark, int64_t* begin) {
  Share all = Share::of_shard(shard.arg("num_shards").as_int(), shard.arg("index").as_int());
  if (!mark) return all;
  const auto fields = decoded_mark<ShardMark>(*stage_mark(mark));
  *begin = fields.begin;
  return Share::of(fields, all);
}

}  // namespace

StreamPosition input_of(const PlanNode& node, const MarkPtr& mark) {
  if (passes_marks(node) || !mark) return {mark, 0};
  return stage_mark(mark)->input();
}

Descent::Descent(const ResumePoint& from, RunOptions options) : from_(from), options_(options) {
  options_.threads = 1;
  options_.count = true;
}

RankRest Descent::run(const PlanPtr& plan) {
  PassRest first = go_down(plan, {from_.position.mark, from_.position.rows, {}});
  rank_.passes.insert(rank_.passes.begin(), std::move(first));
  return std::move(rank_);
}

PassRest Descent::go_down(PlanPtr node, Rest rest) {
  for (;; node = node->inputs[0]) {
    check_stage(*node, rest.mark);
    if (node->op->deals_rows) return at_shard(*node, rest);
    if (!changes_nothing(*node)) rest = node->op->resharding->below(*this, node, rest);
  }
}

void Descent::begin_passes(int64_t pass, const PlanNode& repeat,
                           std::span<const StreamPosition> later) {
  if (std::exchange(repeated_, true)) {
    throw Error(Code::failed_precondition, "one `repeat` may stand behind `shard`, not more",
                repeat.op->name);
  }
  rank_.pass = pass;
  for (size_t i = 0; i < later.size(); ++i) {
    pass_ = pass + static_cast<int64_t>(i) + 1;
    rank_.passes.push_back(go_down(repeat.inputs[0], {later[i].mark, later[i].rows, {}}));
  }
  pass_ = pass;
}

PassRest Descent::at_shard(const PlanNode& shard, const Rest& rest) {
  PassRest out;
  const Share all = share_at(shard, rest.mark, &out.begin);
  out.input = input_of(shard, rest.mark);
  std::optional<int64_t> row = all.next(out.begin);
  for (int64_t i = 0; row && i < rest.head; ++i, row = all.next(*row + 1)) {
    if (std::ranges::binary_search(rest.kept, i)) out.share.listed.push_back(*row);
  }
  const auto listed = std::ranges::lower_bound(all.listed, row.value_or(INT64_MAX));
  out.share.listed.insert(out.share.listed.end(), listed, all.listed.end());
  out.share.tail = row ? std::max(all.tail, *row) : 0;
  out.share.period = all.period;
  out.share.residues = row ? all.residues : std::vector<int64_t>();
  if (!opened_.empty()) find_opened(shard.inputs[0], &out);
  return out;
}

// Finds the rows of the shard's input that have these datasets open.
void Descent::find_opened(const PlanPtr& input, PassRest* out) {
  EmittedAgain rows(*this, input, out->input, false);
  Block block;
  for (int64_t row = out->begin; std::ssize(out->opened) < std::ssize(opened_); row += block.rows) {
    if (!rows.next(&block, options_.block_rows)) break;
    for (int64_t i = 0; i < block.rows; ++i) {
      const uint64_t key = inner_key(block.origin, i);
      if (const auto rest = opened_.find(key); rest != opened_.end())
        out->opened.emplace(row + i, *rest);
    }
  }
  if (std::ssize(out->opened) < std::ssize(opened_))
    throw Error(Code::data_loss, "the checkpoint is damaged: it has datasets of no element");
  opened_.clear();
}

EmittedAgain::EmittedAgain(const Descent& descent, const PlanPtr& node, const StreamPosition& at,
                           bool one_by_one)
    : within_pass_(descent.pass() > 0) {
  RunOptions options = descent.options();
  options.marks = one_by_one;
  if (one_by_one) options.block_rows = 1;
  PlanPtr plan = node;
  ResumePoint from{descent.iterator(), at};
  if (within_pass_) {  // opened by a repeat, which tells the stages the pass
    Attrs args;
    args.set("count", Attr::integer(descent.pass() + 1));
    plan = make_node("repeat", {node}, std::move(args));
    const RepeatMark mark{descent.pass(), true};
    from.position = {make_mark(nullptr, "repeat", mark, std::span(&at, 1)), 0};
  }
  const ScopedSerial serial;
  rows_.emplace(plan, options, std::make_shared<PipelineState>(), std::vector<Tensor>(), from);
}

bool EmittedAgain::next(Block* out, int64_t most) {
  const ScopedSerial serial;
  return rows_->next(out, most);
}

StreamPosition EmittedAgain::position() const {
  const StreamPosition at = rows_->position();
  return within_pass_ ? input_of(*rows_->run().plan(), at.mark) : at;
}

// By counting on from the shard if its number of rows is known, else by reading them.
int64_t rows_left(const Descent& descent, const PlanPtr& node, const StreamPosition& at,
                  int64_t most) {
  const PlanNode* below = node.get();
  while (emits_row_by_row(*below)) below = below->inputs[0].get();
  const int64_t rows = below->op->deals_rows ? counted_elements(*below->inputs[0]) : kUnknown;
  if (rows == kInfinite) return most;
  if (rows >= 0) {
    int64_t begin = 0;
    const Share share = share_at(*below, at.mark, &begin);
    return std::clamp<int64_t>(share.count(begin, rows) - at.rows, 0, most);
  }
  EmittedAgain rest(descent, node, at, false);
  int64_t out = 0;
  Block block;
  while (out < most && rest.next(&block, most - out)) out += block.rows;
  return out;
}

}  // namespace penstock
