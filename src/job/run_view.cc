#include "job/run_view.h"

#include <algorithm>
#include <unordered_map>

namespace penstock {

RunView::RunView(Run* run, const FilledNodes& filled)
    : run_(run), filled_(filled), placed_(placed_nodes(*run->plan())) {
  std::unordered_map<const PlanNode*, size_t> top;  // index among the stages at the top
  std::vector<size_t> top_of;                       // of each placed node
  for (size_t i = 0; i < placed_.size(); ++i) {
    const int parent = placed_[i].parent;
    if (parent < 0) {
      top_of.push_back(of_.size());
      top[placed_[i].node] = of_.size();
      of_.emplace_back();
    } else {
      top_of.push_back(top_of[static_cast<size_t>(parent)]);
    }
    of_[top_of.back()].push_back(i);
  }
  users_.assign(of_.size(), -1);
  for (size_t t = 0; t < of_.size(); ++t) {
    for (const PlanPtr& input : placed_[of_[t][0]].node->inputs) {
      int& user = users_[top.at(input.get())];
      if (user < 0) user = static_cast<int>(t);
    }
  }
}

// Nested pipelines are opened later than the run.
void RunView::find_stages() {
  const auto stages = run_->stages();
  if (stages.size() == opened_) return;
  opened_ = stages.size();
  const std::unordered_map<const PlanNode*, RunStage*> found(stages.begin(), stages.end());
  in_run_.clear();
  for (const PlacedNode& p : placed_) {
    const auto at = found.find(p.node);
    in_run_.push_back(at == found.end() ? nullptr : at->second);
  }
}

TunedStage RunView::stage(size_t top) const {
  TunedStage out;
  const size_t own = of_[top][0];
  out.id = static_cast<int>(own);
  out.user = users_[top];
  for (const size_t i : of_[top]) {
    if (!in_run_[i]) continue;
    const NodeCounters& counters = in_run_[i]->counters;
    out.busy_seconds +=
        static_cast<double>(counters.total(&StageCounts::busy_ticks)) * ns_per_tick() * 1e-9;
    if (i != own) continue;
    out.elements = counters.total(&StageCounts::elements);
    out.blocks = counters.total(&StageCounts::blocks);
    out.bytes = counters.total(&StageCounts::bytes);
  }
  if (!in_run_[own]) return out;
  const StageControls& c = in_run_[own]->controls;
  const PlanNode* const node = placed_[own].node;
  if (const PlanNode* head = c.head.load(std::memory_order_relaxed)) {
    for (size_t t = 0; t < of_.size(); ++t) {
      if (placed_[of_[t][0]].node == head) out.runs_with = static_cast<int>(t);
    }
  } else if (c.calls.is_used()) {
    const bool ours = std::ranges::find(filled_, node) != filled_.end();
    out.calls = {std::max<int64_t>(1, c.calls.get()), c.calls.most(), !c.calls.is_fixed() || ours};
  } else if (c.rows_ahead.is_used()) {
    out.rows_ahead = {c.rows_ahead.get(), c.rows_ahead.most(), !c.rows_ahead.is_fixed()};
  }
  return out;
}

TunerView RunView::read(double asking_seconds, int runs) {
  find_stages();
  TunerView out;
  out.seconds = static_cast<double>(now_ns() - run_->start_ns()) * 1e-9;
  out.asking_seconds = asking_seconds;
  out.cpu_share = run_->cpu_share();
  out.cores = std::max(1, std::min(run_->options().threads, usable_cores()) / std::max(1, runs));
  out.memory_bytes = std::min(run_->options().memory_bytes, run_->pool().budget_bytes());
  for (size_t t = 0; t < of_.size(); ++t) out.stages.push_back(stage(t));
  return out;
}

void RunView::move(const TunerMove& move) {
  RunStage* const stage = in_run_[of_[move.stage][0]];
  if (!stage) return;
  (move.what == Tuned::calls ? stage->controls.calls : stage->controls.rows_ahead).set(move.to);
}

}  // namespace penstock
