#include "cluster/timeline.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "cluster/all_reduce.h"
#include "cluster/simulator.h"

namespace penstock::cluster {
namespace {

using Json = nlohmann::ordered_json;
using Kind = PlannedOp::Kind;

constexpr int32_t kSteps = 5;
constexpr double kMicro = 1e-6;
constexpr int32_t kServerProcesses = 100'000;  // numbers of servers' processes begin here

Json name_of(int32_t process, int32_t thread, const char* what, const std::string& name) {
  return {
      {"ph", "M"}, {"pid", process}, {"tid", thread}, {"name", what}, {"args", {{"name", name}}}};
}

std::string thread_name(int32_t thread, bool joint) {
  if (thread == 0) return "computing";
  if (joint) return thread == 1 ? "collectives, received" : "collectives, sent";
  const std::string server = std::to_string((thread - 1) / 2);
  return (thread % 2 == 1 ? "from server " : "to server ") + server;
}

Outcome simulated(const std::vector<Profile>& kinds, const Question& question, int32_t workers) {
  std::vector<std::vector<StepPlan>> plans;
  for (const Profile& p : kinds) plans.push_back(plan_steps(p, question.rig));
  Run run{workers, kinds[0].servers, kSteps, question.seed};
  run.barrier = question.mode == Mode::sync;
  run.backups = question.backups;
  run.feed = question.feed;
  run.record = true;
  return simulate_kinds(plans, question.rig, run);
}

}  // namespace

std::string write_timeline(const std::vector<Profile>& kinds, const Question& question,
                           int32_t workers) {
  const bool joint = question.mode == Mode::all_reduce;
  const Outcome o = joint ? replay_ranks(kinds[0], question, workers, kSteps)
                          : simulated(kinds, question, workers);
  const int32_t servers = joint ? 0 : kinds[0].servers;
  Json events = Json::array();
  for (int32_t w = 0; w < workers; ++w) {
    events.push_back(
        name_of(w, 0, "process_name", (joint ? "rank " : "worker ") + std::to_string(w)));
    for (int32_t t = 0; t <= (joint ? 2 : 2 * servers); ++t)
      events.push_back(name_of(w, t, "thread_name", thread_name(t, joint)));
  }
  for (int32_t s = 0; s < servers; ++s)
    events.push_back(
        name_of(kServerProcesses + s, 0, "process_name", "server " + std::to_string(s)));
  for (const Span& s : o.spans) {
    const Profile& profile = kinds[static_cast<size_t>(s.worker) % kinds.size()];
    const Step& step = profile.steps[static_cast<size_t>(s.plan)];
    const bool server = s.kind == Kind::server;
    Json event{
        {"ph", "X"},
        {"name", s.source < 0 ? "transfer's cost" : step.ops[static_cast<size_t>(s.source)].name},
        {"pid", server ? kServerProcesses + s.place : s.worker},
        {"tid", server                     ? s.worker
                : s.kind == Kind::transfer ? 1 + s.place
                                           : 0},
        {"ts", s.start_s / kMicro},
        {"dur", (s.end_s - s.start_s) / kMicro},
        {"args", {{"worker", s.worker}, {"step", s.step}}}};
    if (s.kind == Kind::transfer) event["args"]["bytes"] = s.amount;
    events.push_back(std::move(event));
  }
  const Json out{{"displayTimeUnit", "ms"}, {"traceEvents", std::move(events)}};
  return out.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace penstock::cluster
