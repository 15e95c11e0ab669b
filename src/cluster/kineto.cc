// A trace has thousands of small events, the simulation needs a few ops: computing between buckets.
// StepReader therefore does not build a graph of events. It uses only the starts of collectives,
// the end of the backward pass and the ends of steps; everything between two of them is one
// computing op.
//
// Recording is expensive relative to these small events: each event costs 11.5 us
// (docs/cluster-model.md). real_s() subtracts this where the events are, so that densely recorded
// parts shrink more.
//
// A bucket is sent while the backward pass continues, so it depends on the computing op before it
// and no later computing waits for it; only the tail after the backward pass waits for all buckets.
// If several ranks were recorded, the time after the backward pass includes waiting for other
// ranks; find_waits() finds it in gloo's own records.
#include "cluster/kineto.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json_mistake.h"

namespace penstock::cluster {
namespace {

using Json = nlohmann::json;

constexpr size_t kWarmUpSteps = 2;
// Time that profiler and execution trace observer add for each event, from the recordings of
// bench/cluster (docs/cluster-model.md).
constexpr double kEvent_us = 11.5;

enum class What : uint8_t { other, step, all_reduce, broadcast, backward, sum, copy };

struct Event {
  double start_us = 0, end_us = 0;
  What what = What::other;
  int64_t bytes = 0;  // -1: the trace has no size
};

What classify(const std::string& name) {
  if (name.starts_with("ProfilerStep#")) return What::step;
  if (name == "c10d::allreduce_") return What::all_reduce;
  if (name == "c10d::broadcast_") return What::broadcast;
  if (name == "gloo:all_reduce") return What::sum;
  if (name == "gloo:broadcast") return What::copy;
  if (name.starts_with("autograd::engine")) return What::backward;
  return What::other;
}

int64_t element_bytes(const std::string& type) {
  if (type.find("double") != std::string::npos || type.find("long") != std::string::npos) return 8;
  if (type.find("Half") != std::string::npos || type.find("BFloat16") != std::string::npos)
    return 2;
  return 4;  // a TensorList has no dtype: assume single precision
}

// Returns the bytes of the tensors in the first input; -1 without their shapes.
int64_t input_bytes(const Json& event) {
  const auto args = event.find("args");
  if (args == event.end() || !args->is_object()) return -1;
  const auto dims = args->find("Input Dims");
  if (dims == args->end() || !dims->is_array() || dims->empty()) return -1;
  std::string type;
  const auto types = args->find("Input type");
  if (types != args->end() && types->is_array() && !types->empty() && (*types)[0].is_string())
    type = (*types)[0].get<std::string>();
  double total = 0;
  for (const Json& tensor : (*dims)[0]) {
    double n = static_cast<double>(element_bytes(type));
    for (const Json& d : tensor) n *= d.is_number() ? std::max(0.0, d.get<double>()) : 0;
    total += n;
  }
  return total < 1e15 ? static_cast<int64_t>(total) : -1;
}

double number(const Json& object, const char* key) {
  const auto it = object.find(key);
  return it != object.end() && it->is_number() ? it->get<double>() : 0;
}

std::vector<Event> read_events(const std::string& file, const Json& trace) {
  const auto list = trace.is_object() ? trace.find("traceEvents") : trace.end();
  if (!trace.is_object() || list == trace.end() || !list->is_array())
    throw Error(Code::invalid_argument, "profile: " + file + ": traceEvents is a list");
  std::vector<Event> out;
  for (const Json& e : *list) {
    if (!e.is_object() || e.value("ph", Json()) != "X") continue;
    Event event;
    event.start_us = number(e, "ts");
    event.end_us = event.start_us + std::max(0.0, number(e, "dur"));
    const auto name = e.find("name");
    if (name != e.end() && name->is_string()) event.what = classify(name->get<std::string>());
    if (event.what == What::all_reduce || event.what == What::broadcast)
      event.bytes = input_bytes(e);
    out.push_back(event);
  }
  std::ranges::stable_sort(out, {}, &Event::start_us);
  return out;
}

// Builds the ops of one step from its events, which are sorted by start.
class StepReader {
 public:
  StepReader(const Event& step, const std::vector<Event>& events, bool joint)
      : step_(step), joint_(joint) {
    const auto first = std::ranges::lower_bound(events, step.start_us, {}, &Event::start_us);
    const auto last = std::ranges::lower_bound(events, step.end_us, {}, &Event::start_us);
    inside_.assign(first, last);
  }

  Step read() {
    int64_t buffers = 0;
    bool known = true;
    double backward_us = step_.start_us;
    for (const Event& e : inside_) {
      if (e.what == What::broadcast) {
        buffers += std::max<int64_t>(0, e.bytes);
        known &= e.bytes >= 0;
      }
      if (e.what == What::backward) backward_us = std::max(backward_us, e.end_us);
    }
    if (joint_) find_waits(backward_us);
    if (buffers > 0 || !known) {
      last_compute_ = append(&out_, "buffers", Resource::broadcast, buffers, 0, {});
      out_.ops.back().known = known;
      set_times(step_.start_us, step_.start_us);
    }
    std::vector<int32_t> before_tail;
    for (const Event& e : inside_) {
      if (e.what != What::all_reduce) continue;
      compute_to(e.start_us);
      before_tail.push_back(append(&out_, "bucket " + std::to_string(before_tail.size()),
                                   Resource::all_reduce, std::max<int64_t>(0, e.bytes), 0,
                                   compute_deps()));
      out_.ops.back().known = e.bytes >= 0;
      set_times(e.start_us, e.end_us);
    }
    if (backward_us > at_us_) compute_to(std::min(backward_us, step_.end_us));
    if (last_compute_ >= 0) before_tail.push_back(last_compute_);
    const double tail_us = std::max(at_us_, step_.start_us);
    const double tail_s = real_s(step_.end_us);
    append(&out_, "after the backward pass", Resource::worker, 0, tail_s, before_tail);
    set_times(tail_us, step_.end_us);
    return std::move(out_);
  }

 private:
  // Sets the times of the last op.
  void set_times(double from_us, double to_us) {
    Op& op = out_.ops.back();
    op.start_s = std::max(0.0, from_us - step_.start_us) * 1e-6;
    op.end_s = std::max(op.start_s, (to_us - step_.start_us) * 1e-6);
  }

  std::vector<int32_t> compute_deps() const {
    return last_compute_ < 0 ? std::vector<int32_t>{} : std::vector<int32_t>{last_compute_};
  }

  // Returns the time from the end of the last op to `to_us`, less the cost of recording events in
  // it.
  double real_s(double to_us) {
    const double from_us = std::max(at_us_, step_.start_us);
    const auto first = std::ranges::lower_bound(inside_, from_us, {}, &Event::start_us);
    const auto last = std::ranges::lower_bound(inside_, to_us, {}, &Event::start_us);
    const double recording_us =
        kEvent_us * static_cast<double>(std::max<ptrdiff_t>(0, last - first));
    double waited_us = 0;
    for (const auto& [wait_us, until_us] : waits_)
      waited_us += std::max(0.0, std::min(until_us, to_us) - std::max(wait_us, from_us));
    at_us_ = to_us;
    return std::max(0.0, to_us - from_us - recording_us - waited_us) * 1e-6;
  }

  // Finds waits if several ranks ran: times of buffers, and of buckets after the backward pass.
  void find_waits(double backward_us) {
    double done_us = step_.start_us;
    for (const Event& e : inside_) {
      if (e.what != What::sum && e.what != What::copy) continue;
      const double from_us =
          std::max({e.start_us, done_us, e.what == What::sum ? backward_us : e.start_us});
      if (e.end_us <= from_us) continue;
      waits_.emplace_back(from_us, e.end_us);
      done_us = e.end_us;
    }
  }

  void compute_to(double to_us) {
    const double from_us = std::max(at_us_, step_.start_us);
    const double duration_s = real_s(to_us);
    last_compute_ = append(&out_, "computing", Resource::worker, 0, duration_s, compute_deps());
    set_times(from_us, to_us);
  }

  const Event& step_;
  bool joint_;
  std::vector<Event> inside_;
  std::vector<std::pair<double, double>> waits_;  // (from, to) in us, disjoint
  Step out_;
  double at_us_ = 0;
  int32_t last_compute_ = -1;
};

// Returns the number of ranks that trained together, according to the trace.
int64_t ranks_of(const Json& trace) {
  const auto info = trace.find("distributedInfo");
  if (info == trace.end() || !info->is_object()) return 1;
  return static_cast<int64_t>(std::clamp(number(*info, "world_size"), 1.0, 1e9));
}

std::string joint_note(int64_t ranks, const std::vector<Event>& events) {
  const bool timed =
      std::ranges::any_of(events, [](const Event& e) { return e.what == What::sum; });
  return "recorded with " + std::to_string(ranks) + " ranks: " +
         (timed ? "what a rank waited for gloo's collectives is taken out"
                : "what a rank waited for the others counts as computing; use the trace of one "
                  "rank, or give --step-time");
}

}  // namespace

bool is_kineto(std::string_view bytes) {
  const size_t word = bytes.find_first_not_of(" \t\r\n");
  return word != std::string_view::npos && bytes[word] == '{' &&
         bytes.find("\"traceEvents\"") != std::string_view::npos;
}

Profile read_kineto(const std::string& file, std::string_view bytes) {
  const Json trace = Json::parse(bytes, nullptr, false);
  if (trace.is_discarded())
    throw Error(Code::data_loss, "profile: " + file + ": it is no JSON" + json_mistake(bytes));
  const std::vector<Event> events = read_events(file, trace);
  const int64_t ranks = ranks_of(trace);
  std::vector<Event> steps;
  for (const Event& e : events)
    if (e.what == What::step) steps.push_back(e);
  if (steps.empty()) {
    throw Error(Code::invalid_argument,
                "profile: " + file + ": no ProfilerStep#: call profiler.step() after each step");
  }
  Profile out;
  out.source = file;
  const size_t drop = steps.size() > 2 * kWarmUpSteps ? kWarmUpSteps : 0;
  for (size_t s = drop; s < steps.size(); ++s)
    out.steps.push_back(StepReader(steps[s], events, ranks > 1).read());
  if (!has_collectives(out)) {
    throw Error(Code::invalid_argument,
                "profile: " + file + ": no c10d::allreduce_: not a rank of DDP training");
  }
  out.notes.push_back("recording is taken to have cost 11.5 us an event; give --step-time to "
                      "replace that by a measured step");
  if (ranks > 1) out.notes.push_back(joint_note(ranks, events));
  return out;
}

}  // namespace penstock::cluster
