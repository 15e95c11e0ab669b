#include "model/threads.h"

#include <algorithm>

namespace penstock {
namespace {

class Grouping {
 public:
  explicit Grouping(const Trace& trace)
      : trace_(trace), thread_(trace.stages.size(), kNone), nested_(trace.stages.size()) {
    std::vector<bool> used(trace.stages.size(), false);
    for (const StageTrace& s : trace.stages) {
      for (const int input : s.inputs) used[static_cast<size_t>(input)] = true;
    }
    for (const StageTrace& s : trace.stages) {
      if (s.parent >= 0 && !used[static_cast<size_t>(s.id)])
        nested_[static_cast<size_t>(s.parent)].push_back(s.id);
    }
  }

  std::vector<ThreadModel> run() {
    todo_.push_back({0, kNone});
    while (!todo_.empty()) {
      const auto [id, thread] = todo_.back();
      todo_.pop_back();
      visit(id, thread);
    }
    for (ThreadModel& t : threads_) std::ranges::sort(t.stages);
    return std::move(threads_);
  }

 private:
  static constexpr int kNone = -1;

  const StageTrace& at(int id) const { return trace_.stages[static_cast<size_t>(id)]; }

  int new_thread(int64_t width) {
    threads_.emplace_back();
    threads_.back().width = static_cast<double>(std::max<int64_t>(1, width));
    return static_cast<int>(threads_.size()) - 1;
  }

  void place(int id, int thread) {
    thread_[static_cast<size_t>(id)] = thread;
    threads_[static_cast<size_t>(thread)].stages.push_back(id);
    push(nested_[static_cast<size_t>(id)], thread);
  }

  // The first id is visited first.
  void push(const std::vector<int>& ids, int thread) {
    for (size_t i = ids.size(); i-- > 0;) todo_.push_back({ids[i], thread});
  }

  void visit(int id, int thread) {
    if (thread_[static_cast<size_t>(id)] != kNone) return;
    if (!at(id).parallel) {
      if (thread == kNone) thread = new_thread(1);
      place(id, thread);
      push(at(id).inputs, at(id).reads_ahead ? kNone : thread);
      return;
    }
    // A parallel stage works on its own threads, together with a chain of equally parallel
    // stateless stages below it; a driver thread pulls the stages below.
    const int own = new_thread(at(id).limit);
    place(id, own);
    int bottom = id;
    while (at(bottom).stateless && at(bottom).inputs.size() == 1) {
      const StageTrace& next = at(at(bottom).inputs[0]);
      if (!next.stateless || next.calls != at(id).calls ||
          thread_[static_cast<size_t>(next.id)] != kNone)
        break;
      place(next.id, own);
      bottom = next.id;
    }
    const std::vector<int>& inputs = at(bottom).inputs;
    push(inputs, std::ranges::all_of(inputs, [&](int i) { return at(i).parallel; })
                     ? kNone
                     : new_thread(1));
  }

  const Trace& trace_;
  std::vector<int> thread_;
  std::vector<std::vector<int>> nested_;
  std::vector<std::pair<int, int>> todo_;
  std::vector<ThreadModel> threads_;
};

}  // namespace

std::vector<ThreadModel> group_threads(const Trace& trace) { return Grouping(trace).run(); }

}  // namespace penstock
