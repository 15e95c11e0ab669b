// Draws do not depend on what is drawn: the numbers of rows are drawn instead of the rows.

#include <algorithm>
#include <set>

#include "datasets/descent.h"
#include "datasets/reshard.h"
#include "datasets/shuffle.h"

namespace penstock {
namespace {

ShuffleMark mark_of(const Rest& rest) {
  return rest.mark ? decoded_mark<ShuffleMark>(*stage_mark(rest.mark)) : ShuffleMark();
}

// Returns the rows of the input, counted from its position, that became the `rest.head` emitted.
// At the mark `read` of them were read.
std::vector<int64_t> redraw(const Descent& descent, const PlanPtr& node, const Rest& rest,
                            int64_t read) {
  const Attr& size = node->arg("buffer_size");
  const bool whole = size.is_none() || size.as_int() < 0;
  const int64_t most =
      whole ? kMostResumed : read + rest.head + 1 + std::min(size.as_int(), kMostResumed / 2);
  Attrs args;
  args.set("start",
           Attr::integer(rows_left(descent, node->inputs[0], input_of(*node, rest.mark), most)));
  const PlanPtr numbers = with_inputs(*node, {make_node("range", {}, std::move(args))});
  StreamPosition at;
  if (rest.mark) {
    const StreamPosition beginning;
    at.mark = make_mark(nullptr, node->op->name, mark_of(rest), std::span(&beginning, 1));
  }
  EmittedAgain rows(descent, numbers, at, false);
  std::vector<int64_t> out;
  Block block;
  while (std::ssize(out) < rest.head && rows.next(&block, rest.head - std::ssize(out))) {
    for (int64_t i = 0; i < block.rows; ++i) out.push_back(integer_at(block.columns[0].row(i)));
  }
  return out;
}

class ShuffleResharding final : public Resharding {
  Rest below(Descent& descent, const PlanPtr& node, const Rest& rest) const override {
    const StreamPosition input = input_of(*node, rest.mark);
    const ShuffleMark mark = mark_of(rest);
    int64_t read = oldest_age(mark);  // since input.rows
    std::set<int64_t> held;
    for (const int64_t age : mark.ages) {
      if (age > 0) held.insert(read - age);
    }
    std::vector<int64_t> drawn;
    if (rest.head > 0) drawn = redraw(descent, node, rest, read);
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

  StreamPosition anew(const NewRank& rank, const PlanNode& node, size_t pass) const override {
    const StreamPosition input = rank.of(*node.inputs[0], pass);
    return {make_mark(nullptr, node.op->name, ShuffleMark(), std::span(&input, 1)), 0};
  }
};

}  // namespace

const Resharding* shuffle_resharding() {
  static const ShuffleResharding out;
  return &out;
}

}  // namespace penstock
