#include "trace/thread_groups.h"

#include <algorithm>
#include <utility>

namespace penstock {
namespace {

constexpr int kNone = -1;

class Grouping {
 public:
  Grouping(const std::vector<HandedOver>& handed, std::vector<StageTrace>* stages)
      : handed_(handed), stages_(*stages), nested_(stages->size()), heads_(stages->size(), kNone) {
    std::vector<bool> used(stages_.size(), false);
    for (const StageTrace& s : stages_) {
      for (const int input : s.inputs) used[index(input)] = true;
    }
    for (StageTrace& s : stages_) {
      s.thread_group = kNone;
      if (s.parent >= 0 && !used[index(s.id)]) nested_[index(s.parent)].push_back(s.id);
    }
  }

  void run() {
    todo_.push_back({0, new_group(1)});  // the consumer's
    while (!todo_.empty()) {
      const auto [id, group] = todo_.back();
      todo_.pop_back();
      if (stages_[index(id)].thread_group == kNone) visit(id, group);
    }
  }

 private:
  using What = HandedOver::What;
  static size_t index(int id) { return static_cast<size_t>(id); }

  int new_group(int64_t width) {
    widths_.push_back(std::max<int64_t>(1, width));
    return static_cast<int>(widths_.size()) - 1;
  }

  // The stage on whose threads the stage runs; its own id for one that runs in its user's.
  int head_of(int id) const {
    const int head = handed_[index(id)].head;
    return head >= 0 && handed_[index(head)].what == What::blocks ? head : id;
  }
  bool has_own_threads(int id) const { return handed_[index(head_of(id))].what == What::blocks; }

  void place(int id, int group) {
    stages_[index(id)].thread_group = group;
    stages_[index(id)].width = widths_[index(group)];
  }

  // The first id is visited first.
  void push(const std::vector<int>& ids, int group) {
    for (size_t i = ids.size(); i-- > 0;) todo_.push_back({ids[i], group});
  }

  void visit(int id, int group) {
    const int head = head_of(id);
    const HandedOver& handed = handed_[index(head)];
    const std::vector<int>& inputs = stages_[index(id)].inputs;
    if (handed.what == What::blocks) {
      if (heads_[index(head)] == kNone) heads_[index(head)] = new_group(handed.width);
      const int own = heads_[index(head)];
      place(id, own);
      push(nested_[index(id)], own);
      const bool goes_on = std::ranges::any_of(inputs, [&](int i) { return head_of(i) == head; });
      const bool no_driver = std::ranges::all_of(inputs, [&](int i) { return has_own_threads(i); });
      push(inputs, goes_on ? own : no_driver ? kNone : new_group(1));
      return;
    }
    if (group == kNone || handed.what == What::itself)
      group = new_group(handed.what == What::itself ? handed.width : 1);
    place(id, group);
    push(nested_[index(id)], handed.what == What::nested ? new_group(handed.width) : group);
    if (handed.what != What::inputs) {
      push(inputs, group);
    } else if (std::ranges::all_of(inputs, [&](int i) { return has_own_threads(i); })) {
      push(inputs, kNone);
    } else {
      push(inputs, new_group(handed.width));
    }
  }

  const std::vector<HandedOver>& handed_;
  std::vector<StageTrace>& stages_;
  std::vector<std::vector<int>> nested_;
  std::vector<int> heads_;  // the group of each head
  std::vector<int64_t> widths_;
  std::vector<std::pair<int, int>> todo_;
};

}  // namespace

void set_thread_groups(const std::vector<HandedOver>& handed, std::vector<StageTrace>* stages) {
  Grouping(handed, stages).run();
}

// Without the groups: stages run as their arguments say, and a chain of stateless stages that ask
// for the same number of calls shares threads.
std::vector<HandedOver> guess_handed_over(const std::vector<StageTrace>& stages) {
  std::vector<HandedOver> out(stages.size());
  for (const StageTrace& s : stages) {
    HandedOver& own = out[static_cast<size_t>(s.id)];
    if (s.reads_ahead) own.what = HandedOver::What::inputs;
    if (!s.parallel) continue;
    own = {HandedOver::What::blocks, s.limit, own.head};
    if (!s.stateless || s.inputs.size() != 1) continue;
    const StageTrace& input = stages[static_cast<size_t>(s.inputs[0])];
    if (input.stateless && input.calls == s.calls)
      out[static_cast<size_t>(input.id)].head = own.head >= 0 ? own.head : s.id;
  }
  return out;
}

}  // namespace penstock
