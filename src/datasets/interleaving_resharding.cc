// Rows are emitted again, to see of which datasets they are. An input of whose dataset anything is
// left is not used up: what is left of it goes to the rank that gets the input.

#include <algorithm>
#include <set>

#include "datasets/descent.h"
#include "datasets/opened_mark.h"
#include "datasets/opened_rows.h"
#include "datasets/reshard.h"

namespace penstock {
namespace {

// Adds to `of`, what is left now, what was left when the dataset was opened.
void carry_on(const InnerRest& before, InnerRest* of) {
  const auto from = std::ranges::lower_bound(before.kept, of->head);
  of->kept.insert(of->kept.end(), from, before.kept.end());
  of->head = std::max(of->head, before.head);
}

// Rows after the mark, up to one more than were emitted, so that all datasets of the mark are open.
OpenedRows emitted_again(const Descent& descent, const PlanPtr& node, const Rest& rest) {
  OpenedRows out;
  const ScopedOpenedRows noting(node.get(), &out);
  EmittedAgain rows(descent, node, {rest.mark, 0}, true);
  Block block;
  for (int64_t row = 0; row <= rest.head && rows.next(&block, 1); ++row) {
  }
  if (std::ssize(out.rows) < rest.head) {
    throw Error(Code::failed_precondition,
                "the checkpoint stands behind an error that is of no dataset: take it later",
                node->op->name);
  }
  out.rows.resize(static_cast<size_t>(rest.head));
  return out;
}

class InterleavingResharding final : public Resharding {
  bool opens_datasets() const override { return true; }

  Rest below(Descent& descent, const PlanPtr& node, const Rest& rest) const override {
    const StreamPosition input = input_of(*node, rest.mark);
    if (!rest.mark && rest.head == 0) return {input.mark, input.rows, {}};
    OpenedRows noted = emitted_again(descent, node, rest);
    InnerRests after;  // of the datasets that were opened
    std::set<uint64_t> untouched;
    for (const auto& [key, opened] : noted.inputs) after[key].start = opened.start;
    for (size_t i = 0; i < noted.rows.size(); ++i) {
      const auto& [key, row] = noted.rows[i];
      InnerRest& of = after[key];
      of.head = std::max(of.head, row + 1);
      if (!std::ranges::binary_search(rest.kept, static_cast<int64_t>(i))) continue;
      if (row < 0) untouched.insert(key);
      if (row >= 0) of.kept.push_back(row);
    }
    Rest out{input.mark, input.rows + noted.used, {}};
    InnerRests left = noted.rests;
    for (auto& [key, of] : after) {
      if (const auto before = noted.rests.find(key); before != noted.rests.end())
        carry_on(before->second, &of);
      left.erase(key);
      const OpenedRows::Input& opened = noted.inputs[key];
      if (opened.ended && of.kept.empty() && !untouched.contains(key)) continue;
      out.kept.push_back(input.rows + opened.arrived);
      if (of.head > 0 || of.start.mark || of.start.rows > 0) left.emplace(key, std::move(of));
    }
    std::ranges::sort(out.kept);
    descent.note_opened(std::move(left));
    return out;
  }

  // No dataset is open, but of some that come only a part is left.
  StreamPosition anew(const NewRank& rank, const PlanNode& node, size_t pass) const override {
    std::vector<StreamPosition> positions{rank.of(*node.inputs[0], pass)};
    OpenedMark mark;
    for (const auto& [row, rest] : rank.opened(pass)) mark.rests.insert(rest);
    for (const auto& [key, rest] : mark.rests) positions.push_back(rest.start);
    return {make_mark(nullptr, node.op->name, mark, positions), 0};
  }
};

}  // namespace

size_t open_slots(const OpenedMark& mark) {
  return static_cast<size_t>(std::ranges::count_if(mark.ages, [](int64_t age) { return age > 0; }));
}

std::optional<OpenedMark> resumed_opened(const OpenContext& context, const PlanNode& node) {
  auto out = context.resumed<OpenedMark>(node);
  if (!out) return out;
  const auto& positions = context.resume(node)->inputs();
  size_t next = 1 + (out->by_rows ? (out->inside ? 1 : 0) : open_slots(*out));
  if (positions.size() != next + out->rests.size()) {
    throw Error(Code::data_loss, "the checkpoint is damaged: a dataset's position is missing",
                node.op->name);
  }
  for (auto& [key, rest] : out->rests) rest.start = positions[next++];
  return out;
}

const Resharding* interleaving_resharding() {
  static const InterleavingResharding out;
  return &out;
}

}  // namespace penstock
