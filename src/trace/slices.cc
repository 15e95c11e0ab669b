#include "trace/slices.h"

#include <algorithm>
#include <unordered_map>

#include "runtime/run.h"
#include "trace/placed_nodes.h"

namespace penstock {
namespace {

template <typename T>
void add_to(const std::vector<T>& more, std::vector<T>* sum) {
  for (size_t i = 0; i < more.size(); ++i) (*sum)[i] += more[i];
}

}  // namespace

void add_slice(const TraceSlice& more, TraceSlice* slice) {
  slice->seconds += more.seconds;
  slice->process_cpu_seconds += more.process_cpu_seconds;
  slice->elements += more.elements;
  add_to(more.stage_elements, &slice->stage_elements);
  add_to(more.stage_bytes_read, &slice->stage_bytes_read);
  add_to(more.stage_cpu_seconds, &slice->stage_cpu_seconds);
}

void SliceList::add(TraceSlice slice) {
  slices_.push_back(std::move(slice));
  if (slices_.size() < kMostSlices) return;
  for (size_t i = 0; i < kMostSlices / 2; ++i) {
    add_slice(slices_[2 * i + 1], &slices_[2 * i]);
    if (i > 0) slices_[i] = std::move(slices_[2 * i]);
  }
  slices_.resize(kMostSlices / 2);
  seconds_ *= 2;
}

std::vector<TraceSlice> SliceList::with(const TraceSlice& rest) const {
  std::vector<TraceSlice> out = slices_;
  if (!out.empty()) add_slice(rest, &out.back());
  return out;
}

SliceRecorder::SliceRecorder(const Run* run) : run_(run) {
  for (const PlacedNode& placed : placed_nodes(*run->plan())) nodes_.push_back(placed.node);
  stages_.assign(nodes_.size(), nullptr);
}

void SliceRecorder::start(int64_t elements) {
  if (nodes_.size() > kMostSlicedStages) return;
  is_started_ = true;
  list_.clear();
  last_ = totals(elements);
  wait_for_next();
}

std::vector<TraceSlice> SliceRecorder::slices(int64_t elements) {
  if (!is_started_) return {};
  std::vector<TraceSlice> out = list_.with(since_last(totals(elements)));
  // Ticks pass while the system runs other programs.
  const double share = run_->cpu_share();
  for (TraceSlice& slice : out) {
    for (double& seconds : slice.stage_cpu_seconds) seconds *= share;
  }
  return out;
}

SliceRecorder::Totals SliceRecorder::totals(int64_t elements) {
  if (std::ranges::count(stages_, nullptr) > 0) {
    std::unordered_map<const PlanNode*, const RunStage*> opened;
    for (const auto& [node, stage] : run_->stages()) opened[node] = stage;
    for (size_t i = 0; i < nodes_.size(); ++i) {
      if (const auto found = opened.find(nodes_[i]); found != opened.end())
        stages_[i] = found->second;
    }
  }
  Totals out;
  out.seconds = static_cast<double>(now_ns()) * 1e-9;
  out.process_cpu_seconds = process_cpu_seconds();
  out.elements = elements;
  for (const RunStage* stage : stages_) {
    const auto total = [&](StageCount what) { return stage ? stage->counters.total(what) : 0; };
    out.stage_elements.push_back(total(&StageCounts::elements));
    out.stage_ticks.push_back(total(&StageCounts::busy_ticks));
    out.stage_bytes_read.push_back(total(&StageCounts::bytes_read));
  }
  return out;
}

TraceSlice SliceRecorder::since_last(const Totals& now) const {
  TraceSlice out;
  out.seconds = std::max(0.0, now.seconds - last_.seconds);
  out.process_cpu_seconds = std::max(0.0, now.process_cpu_seconds - last_.process_cpu_seconds);
  out.elements = now.elements - last_.elements;
  // Counters of other threads are read while they move: a difference may be slightly negative.
  const auto less = [](int64_t after, int64_t before) {
    return std::max<int64_t>(0, after - before);
  };
  for (size_t i = 0; i < now.stage_ticks.size(); ++i) {
    out.stage_elements.push_back(less(now.stage_elements[i], last_.stage_elements[i]));
    out.stage_bytes_read.push_back(less(now.stage_bytes_read[i], last_.stage_bytes_read[i]));
    out.stage_cpu_seconds.push_back(
        static_cast<double>(less(now.stage_ticks[i], last_.stage_ticks[i])) * seconds_per_tick_);
  }
  return out;
}

void SliceRecorder::end_slice(int64_t elements) {
  Totals now = totals(elements);
  list_.add(since_last(now));
  last_ = std::move(now);
  wait_for_next();
}

void SliceRecorder::wait_for_next() {
  next_ticks_ = ticks() + static_cast<uint64_t>(list_.seconds() / seconds_per_tick_);
}

}  // namespace penstock
