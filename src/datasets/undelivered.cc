// A checkpoint says where its last stage stands, and its marks where each stage below stood some
// rows before. From the last stage down, "these rows have been given" becomes "these rows of the
// input have been used up", until it is said of the rows of the shard.

#include "datasets/undelivered.h"

#include <algorithm>
#include <map>
#include <set>

#include "datasets/opened_rows.h"
#include "plan/noop.h"
#include "runtime/indexed.h"
#include "runtime/resumed_count.h"
#include "runtime/serial.h"

namespace penstock {
namespace {

// Of the rows of a stage behind its mark the first `head` have been given, but for `kept`.
struct Rest {
  MarkPtr mark;
  int64_t head = 0;
  std::vector<int64_t> kept;  // ascending
};

const StageMark* stage_mark(const MarkPtr& mark) {
  return static_cast<const StageMark*>(mark.get());
}

[[noreturn]] void refuse(const PlanNode& node, const std::string& what) {
  throw Error(Code::failed_precondition, what, node.op->name);
}

// What follows from a stage's own mark: rows of the input, counted from the input's mark.
struct Used {
  int64_t head = 0;           // read
  std::vector<int64_t> held;  // of them not given
};

class Descent {
 public:
  Descent(const std::vector<PlanPtr>& stages, const ResumePoint& from, const RunOptions& options)
      : stages_(stages), iterator_(from.iterator), options_(options) {
    options_.threads = 1;
    options_.count = true;
  }

  PassRest go_down(size_t stage, Rest rest, RankRest* rank) {
    InnerRests opened;
    for (; stage < stages_.size(); ++stage) {
      const PlanPtr& node = stages_[stage];
      check_stage(*node, rest.mark);
      switch (resharding_of(*node)) {
        case Resharding::same: break;
        case Resharding::ordered:
        case Resharding::listed: rest = below(node, rest); break;
        case Resharding::drawn: rest = below_shuffle(node, rest); break;
        case Resharding::opened: rest = below_opened(node, rest, &opened); break;
        case Resharding::repeated: rest = below_repeat(stage, rest, rank); break;
        case Resharding::shard: return at_shard(*node, rest, opened);
        case Resharding::refused: PENSTOCK_CHECK(false);
      }
    }
    PENSTOCK_CHECK(false);
  }

 private:
  static void check_stage(const PlanNode& node, const MarkPtr& mark) {
    if (!mark || passes_marks(node) || stage_mark(mark)->stage() == node.op->name) return;
    throw Error(Code::failed_precondition, "the checkpoint was taken behind `" +
                                               stage_mark(mark)->stage() +
                                               "`, here the pipeline has `" + node.op->name + "`");
  }

  // The rows of a stage in the pass at hand, from a place on.
  class Rows {
   public:
    Rows(const Descent& descent, const PlanPtr& node, const StreamPosition& at, bool one_by_one)
        : within_pass_(descent.pass_ > 0) {
      RunOptions options = descent.options_;
      options.marks = one_by_one;
      if (one_by_one) options.block_rows = 1;
      PlanPtr plan = node;
      ResumePoint from{descent.iterator_, at};
      if (within_pass_) {  // opened by a repeat, which tells the stages the pass
        Attrs args;
        args.set("count", Attr::integer(descent.pass_ + 1));
        plan = make_node("repeat", {node}, std::move(args));
        const int64_t numbers[] = {descent.pass_, 1};
        from.position = {
            std::make_shared<const StageMark>(nullptr, "repeat", numbers, std::span(&at, 1)), 0};
      }
      const ScopedSerial serial;  // nothing is read ahead: what has been read has been used
      rows_.emplace(plan, options, std::make_shared<PipelineState>(), std::vector<Tensor>(), from);
    }
    bool next(Block* out, int64_t most) {
      const ScopedSerial serial;
      return rows_->next(out, most);
    }
    StreamPosition position() {
      const StreamPosition at = rows_->position();
      return within_pass_ ? input_of(*rows_->run().plan(), at.mark) : at;
    }
    // Rows that the stage has given.
    int64_t given(const PlanNode* node) {
      return rows_->run().counters(node)->total(&StageCounts::elements);
    }

   private:
    const bool within_pass_;
    std::optional<BlockIterator> rows_;
  };

  static StreamPosition input_of(const PlanNode& node, const MarkPtr& mark) {
    if (passes_marks(node) || !mark) return {mark, 0};
    if (stage_mark(mark)->inputs().empty())
      throw Error(Code::data_loss, "the checkpoint is damaged: `" + node.op->name + "`");
    return stage_mark(mark)->inputs()[0];
  }

  // Of `base` rows that were used before the mark's input position, and what the mark lists.
  static Used used_at(const PlanNode& node, const MarkPtr& mark, int64_t base) {
    Used out{base, {}};
    if (!mark || resharding_of(node) != Resharding::listed) return out;
    const StageMark& m = *stage_mark(mark);
    out.head += checked_count(m.number(0), m.stage());
    for (size_t i = 1; i < m.numbers().size(); ++i)
      out.held.push_back(base + checked_count(m.number(i), m.stage()));
    return out;
  }

  Rest below(const PlanPtr& node, const Rest& rest) {
    const StreamPosition input = input_of(*node, rest.mark);
    Used used = used_at(*node, rest.mark, input.rows);
    std::set<int64_t> kept;
    if (rest.head > 0) {
      if (!node->arg("max_tokens").is_none()) {
        refuse(*node, "with max_tokens batches cannot be taken apart again: let no shuffle follow "
                      "it, and take checkpoints between elements of `run`, or at each");
      }
      // Counted where rows are: a prefetch opened here is its input.
      const PlanNode* counted = node->inputs[0].get();
      while (resharding_of(*counted) == Resharding::same && counted->op->chain == ChainRole::none)
        counted = counted->inputs[0].get();
      Rows rows(*this, node, {rest.mark, 0}, true);
      for (int64_t row = 0; row < rest.head; ++row) {
        Block block;
        if (!rows.next(&block, 1)) break;  // shorter than it was
        Used now = used_behind(*node, rows.position(), rows.given(counted));
        if (std::ranges::binary_search(rest.kept, row)) {
          kept.insert(used.held.begin(), used.held.end());
          for (int64_t r = used.head; r < now.head; ++r) kept.insert(r);
          for (const int64_t r : now.held) kept.erase(r);
        }
        used = std::move(now);
      }
    }
    kept.insert(used.held.begin(), used.held.end());
    return {input.mark, used.head, {kept.begin(), kept.end()}};
  }

  // After one more row was pulled.
  // `read`: rows that the input has given so far.
  static Used used_behind(const PlanNode& node, const StreamPosition& at, int64_t read) {
    if (passes_marks(node)) return {read, {}};
    if (at.rows > 0 || !at.mark) {
      refuse(node, "the checkpoint stands behind an error that came out before the elements "
                   "around it: take it some elements later");
    }
    Used out{read, {}};
    if (resharding_of(node) != Resharding::listed) return out;
    const Used listed = used_at(node, at.mark, 0);
    for (const int64_t row : listed.held) out.held.push_back(read - listed.head + row);
    return out;
  }

  // Draws do not depend on what is drawn: rows are drawn again as their numbers.
  Rest below_shuffle(const PlanPtr& node, const Rest& rest) {
    const StreamPosition input = input_of(*node, rest.mark);
    int64_t read = 0;  // since input.rows
    std::set<int64_t> held;
    if (rest.mark) {
      const StageMark& mark = *stage_mark(rest.mark);
      for (size_t i = 2; i < mark.numbers().size(); ++i)
        read = std::max(read, checked_count(mark.number(i), mark.stage()));
      for (size_t i = 2; i < mark.numbers().size(); ++i) {
        if (mark.number(i) > 0) held.insert(read - mark.number(i));
      }
    }
    std::vector<int64_t> drawn;
    if (rest.head > 0) drawn = redraw(node, rest, input, read);
    for (const int64_t row : drawn) {
      for (; read <= row; ++read) held.insert(read);
    }
    for (size_t i = 0; i < drawn.size(); ++i) {
      if (!std::ranges::binary_search(rest.kept, static_cast<int64_t>(i))) held.erase(drawn[i]);
    }
    Rest out{input.mark, input.rows + read, {}};
    for (const int64_t row : held) out.kept.push_back(input.rows + row);
    return out;
  }

  std::vector<int64_t> redraw(const PlanPtr& node, const Rest& rest, const StreamPosition& input,
                              int64_t read) {
    const Attr& size = node->arg("buffer_size");
    const bool whole = size.is_none() || size.as_int() < 0;
    const int64_t most =
        whole ? kMostResumed : read + rest.head + 1 + std::min(size.as_int(), kMostResumed / 2);
    Attrs args;
    args.set("start", Attr::integer(rows_behind(node->inputs[0], input, most)));
    const PlanPtr numbers = with_inputs(*node, {make_node("range", {}, std::move(args))});
    StreamPosition at;
    if (rest.mark) {
      const StageMark& mark = *stage_mark(rest.mark);
      const StreamPosition beginning;
      at.mark = std::make_shared<const StageMark>(nullptr, mark.stage(), mark.numbers(),
                                                  std::span(&beginning, 1));
    }
    Rows rows(*this, numbers, at, false);
    std::vector<int64_t> out;
    Block block;
    while (static_cast<int64_t>(out.size()) < rest.head &&
           rows.next(&block, rest.head - static_cast<int64_t>(out.size()))) {
      for (int64_t i = 0; i < block.rows; ++i) out.push_back(integer_at(block.columns[0].row(i)));
    }
    return out;
  }

  // Rows are given again, to see of which datasets they are; one more than were given, so that all
  // datasets of the mark are open. Inputs of which anything is left are not used up: their rests
  // say what.
  Rest below_opened(const PlanPtr& node, const Rest& rest, InnerRests* left) {
    const StreamPosition input = input_of(*node, rest.mark);
    if (!rest.mark && rest.head == 0) return {input.mark, input.rows, {}};
    OpenedRows noted;
    {
      const ScopedOpenedRows noting(node.get(), &noted);
      Rows rows(*this, node, {rest.mark, 0}, true);
      Block block;
      for (int64_t row = 0; row <= rest.head && rows.next(&block, 1); ++row) {
      }
    }
    if (std::ssize(noted.rows) < rest.head)
      refuse(*node, "the checkpoint stands behind an error that is of no dataset: take it later");
    noted.rows.resize(static_cast<size_t>(rest.head));
    InnerRests behind;  // of those opened
    std::set<uint64_t> untouched;
    for (const auto& [key, opened] : noted.inputs) behind[key].start = opened.start;
    for (size_t i = 0; i < noted.rows.size(); ++i) {
      const auto& [key, row] = noted.rows[i];
      InnerRest& of = behind[key];
      of.head = std::max(of.head, row + 1);
      if (!std::ranges::binary_search(rest.kept, static_cast<int64_t>(i))) continue;
      if (row < 0) untouched.insert(key);
      if (row >= 0) of.kept.push_back(row);
    }
    Rest out{input.mark, input.rows + noted.used, {}};
    *left = noted.rests;
    for (auto& [key, of] : behind) {
      if (const auto before = noted.rests.find(key); before != noted.rests.end())
        carry_on(before->second, &of);
      left->erase(key);
      const OpenedRows::Input& opened = noted.inputs[key];
      if (opened.ended && of.kept.empty() && !untouched.contains(key)) continue;
      out.kept.push_back(input.rows + opened.arrived);
      if (of.head > 0 || of.start.mark || of.start.rows > 0) left->emplace(key, std::move(of));
    }
    std::ranges::sort(out.kept);
    return out;
  }

  // What was left when the dataset was opened, and `of` it now.
  static void carry_on(const InnerRest& before, InnerRest* of) {
    const auto from = std::ranges::lower_bound(before.kept, of->head);
    of->kept.insert(of->kept.end(), from, before.kept.end());
    of->head = std::max(of->head, before.head);
  }

  // How many rows the stage has left there, `most` or fewer: by counting on from the shard where
  // it is known how many there are, else by reading them.
  int64_t rows_behind(const PlanPtr& node, const StreamPosition& at, int64_t most) {
    const PlanNode* below = node.get();
    while (resharding_of(*below) == Resharding::same) below = below->inputs[0].get();
    const int64_t rows =
        below->op->resharding == Resharding::shard ? counted_elements(*below->inputs[0]) : kUnknown;
    if (rows == kInfinite) return most;
    if (rows >= 0) {
      int64_t begin = 0;
      const Share share = share_at(*below, at.mark, &begin);
      return std::clamp<int64_t>(share.count(begin, rows) - at.rows, 0, most);
    }
    Rows rest(*this, node, at, false);
    int64_t out = 0;
    Block block;
    while (out < most && rest.next(&block, most - out)) out += block.rows;
    return out;
  }

  // The rows behind the mark, read to where they end.
  Rest below_repeat(size_t stage, Rest rest, RankRest* rank) {
    const PlanPtr& node = stages_[stage];
    if (!rank || std::exchange(repeated_, true))
      refuse(*node, "one `repeat` may stand behind `shard`, not more");
    if (!rest.kept.empty()) {
      refuse(*node, "what a shuffle holds of several passes cannot be dealt to other ranks: "
                    "let `repeat` follow the shuffle");
    }
    if (rest.head > 0) {
      Rows rows(*this, node, {rest.mark, 0}, true);
      Block block;
      for (int64_t row = 0; row < rest.head && rows.next(&block, 1); ++row) {
      }
      rest = {rows.position().mark, 0, {}};
    }
    if (!rest.mark) return rest;
    const StageMark& mark = *stage_mark(rest.mark);
    const int64_t pass = checked_count(mark.number(0), mark.stage());
    rank->pass = pass;
    for (size_t i = 1; i < mark.inputs().size(); ++i) {
      pass_ = pass + static_cast<int64_t>(i);
      const StreamPosition& at = mark.inputs()[i];
      rank->passes.push_back(go_down(stage + 1, {at.mark, at.rows, {}}, nullptr));
    }
    pass_ = pass;
    const StreamPosition input = input_of(*node, rest.mark);
    return {input.mark, input.rows, {}};
  }

  static Share share_at(const PlanNode& shard, const MarkPtr& mark, int64_t* begin) {
    const Share all =
        Share::of_shard(shard.arg("num_shards").as_int(), shard.arg("index").as_int());
    return mark ? Share::read(*stage_mark(mark), all, begin) : all;
  }

  PassRest at_shard(const PlanNode& node, const Rest& rest, const InnerRests& opened) {
    PassRest out;
    Share all = share_at(node, rest.mark, &out.begin);
    out.input = input_of(node, rest.mark);
    std::optional<int64_t> row = all.next(out.begin);
    for (int64_t i = 0; row && i < rest.head; ++i, row = all.next(*row + 1)) {
      if (std::ranges::binary_search(rest.kept, i)) out.share.listed.push_back(*row);
    }
    const int64_t rest_from = row ? *row : INT64_MAX;
    const auto listed = std::ranges::lower_bound(all.listed, rest_from);
    out.share.listed.insert(out.share.listed.end(), listed, all.listed.end());
    out.share.tail = row ? std::max(all.tail, *row) : 0;
    out.share.period = all.period;
    out.share.residues = row ? all.residues : std::vector<int64_t>();
    if (!opened.empty()) find_opened(node.inputs[0], opened, &out);
    return out;
  }

  // Which rows of the shard's input the rests are of.
  void find_opened(const PlanPtr& input, const InnerRests& opened, PassRest* out) {
    Rows rows(*this, input, out->input, false);
    Block block;
    for (int64_t row = out->begin; std::ssize(out->opened) < std::ssize(opened);
         row += block.rows) {
      if (!rows.next(&block, options_.block_rows)) break;
      for (int64_t i = 0; i < block.rows; ++i) {
        const uint64_t key = inner_key(block.origin, i);
        if (const auto rest = opened.find(key); rest != opened.end())
          out->opened.emplace(row + i, *rest);
      }
    }
    if (std::ssize(out->opened) < std::ssize(opened))
      throw Error(Code::data_loss, "the checkpoint is damaged: it has datasets of no element");
  }

  const std::vector<PlanPtr>& stages_;
  const uint64_t iterator_;
  RunOptions options_;
  int64_t pass_ = 0;  // that stages below are in
  bool repeated_ = false;
};

}  // namespace

RankRest undelivered(const std::vector<PlanPtr>& stages, const ResumePoint& from,
                     const RunOptions& options) {
  RankRest out;
  const PassRest first =
      Descent(stages, from, options).go_down(0, {from.position.mark, from.position.rows, {}}, &out);
  out.passes.insert(out.passes.begin(), first);
  return out;
}

}  // namespace penstock
