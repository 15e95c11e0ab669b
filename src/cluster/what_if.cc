#include "cluster/what_if.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <map>
#include <utility>
#include <vector>

#include "base/error.h"
#include "cluster/placement.h"
#include "cluster/split.h"

namespace penstock::cluster {
namespace {

constexpr int64_t kMostServers = 1000, kMostSplit_bytes = 1'000'000'000'000'000;

[[noreturn]] void bad(const std::string& what) { throw Error(Code::invalid_argument, what); }

double parse_factor(const std::string& text, const std::string& change) {
  double v = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), v);
  if (error != std::errc() || end != text.data() + text.size() || !(v > 0) || !std::isfinite(v))
    bad("replay: what-if " + change + ": a factor of more than 0 is needed: " + text);
  return v;
}

// Applies `edit` to the ops for which `fits` holds and adds a note.
template <typename Fits, typename Edit>
Profile edit_ops(Profile profile, const std::string& change, const Fits& fits, const Edit& edit) {
  int64_t count = 0;
  for (Step& step : profile.steps) {
    for (Op& op : step.ops) {
      if (!fits(op)) continue;
      edit(&op);
      ++count;
    }
  }
  if (count == 0) bad("replay: what-if " + change + ": no op of the profile fits");
  profile.notes.push_back("what if " + change + ": " + std::to_string(count) + " ops in " +
                          std::to_string(profile.steps.size()) + " steps are changed");
  return profile;
}

std::string print_factor(double factor) {
  char out[32];
  std::snprintf(out, sizeof out, "%.4g", factor);
  return out;
}

bool sends(const Op& op) { return is_transfer(op.resource) || is_collective(op.resource); }

Profile compress(Profile profile, const std::string& change, const std::string& value) {
  const size_t colon = value.find(':');
  const std::string name = colon == std::string::npos ? "" : value.substr(colon + 1);
  const double factor = parse_factor(value.substr(0, colon), change);
  const auto fits = [&](const Op& op) {
    return sends(op) && op.name.find(name) != std::string::npos;
  };
  return edit_ops(std::move(profile), change, fits, [&](Op* op) {
    op->bytes = std::llround(std::min(9e18, static_cast<double>(op->bytes) / factor));
  });
}

}  // namespace

Profile scale_batch(Profile profile, double factor) {
  for (Step& step : profile.steps) {
    for (Op& op : step.ops)
      if (op.resource == Resource::worker) op.duration_s *= factor;
  }
  if (factor != 1) {
    profile.examples = std::llround(static_cast<double>(profile.examples) * factor);
    profile.notes.push_back("a batch " + print_factor(factor) +
                            " times as large: the worker's computing is taken to grow with it, "
                            "transfers to stay");
  }
  return profile;
}

Profile what_if(Profile profile, const std::string& change) {
  const size_t equals = change.find('=');
  const std::string word = change.substr(0, equals);
  const std::string value = equals == std::string::npos ? "" : change.substr(equals + 1);
  if (word == "faster") {
    const size_t colon = value.rfind(':');
    if (colon == std::string::npos) bad("replay: what-if faster needs NAME:K: " + change);
    const std::string name = value.substr(0, colon);
    const double factor = parse_factor(value.substr(colon + 1), change);
    const auto fits = [&](const Op& op) {
      return !sends(op) && op.duration_s > 0 && op.name.find(name) != std::string::npos;
    };
    return edit_ops(std::move(profile), change, fits, [&](Op* op) { op->duration_s /= factor; });
  }
  if (word == "remove" && !value.empty()) {
    const auto fits = [&](const Op& op) { return op.name.find(value) != std::string::npos; };
    return edit_ops(std::move(profile), change, fits, [](Op* op) {
      op->resource = Resource::none;
      op->duration_s = 0;
      op->bytes = 0;
    });
  }
  if (word == "compress") return compress(std::move(profile), change, value);
  if (word == "servers")
    return place(profile, static_cast<int32_t>(parse_whole(value, change, 1, kMostServers)));
  if (word == "placement") return place(profile, profile.servers, parse_placement(value));
  if (word == "split")
    return split_variables(profile, parse_whole(value, change, 1, kMostSplit_bytes));
  bad("replay: what-if must be faster=NAME:K, remove=NAME, compress=F, compress=F:NAME, servers=N, "
      "placement=RULE, split=BYTES, slice=BYTES, policy=NAME or order=NAME: " +
      change);
}

int64_t parse_whole(const std::string& text, const std::string& change, int64_t least,
                    int64_t most) {
  int64_t v = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), v);
  if (error == std::errc() && end == text.data() + text.size() && v >= least && v <= most) return v;
  bad("replay: what-if " + change + ": a whole number from " + std::to_string(least) + " to " +
      std::to_string(most) + " is needed: " + text);
}

namespace {

// Returns one step with all-reduces instead of servers.
Step bucketed(Step step, int64_t bucket_bytes) {
  std::vector<size_t> gradients;
  for (size_t i = 0; i < step.ops.size(); ++i) {
    if (step.ops[i].resource == Resource::uplink && step.ops[i].bytes > 0) gradients.push_back(i);
  }
  std::ranges::stable_sort(gradients, {}, [&](size_t i) { return step.ops[i].end_s; });
  std::vector<Op> buckets;
  for (const size_t i : gradients) {
    const Op& op = step.ops[i];
    if (buckets.empty() || op.bytes > bucket_bytes - std::min(bucket_bytes, buckets.back().bytes)) {
      buckets.emplace_back();
      buckets.back().name = "bucket " + std::to_string(buckets.size() - 1);
      buckets.back().resource = Resource::all_reduce;
    }
    Op& bucket = buckets.back();
    bucket.bytes += op.bytes;
    bucket.deps.insert(bucket.deps.end(), op.deps.begin(), op.deps.end());
  }
  for (Op& op : step.ops) {
    op.bytes = 0;
    op.server = 0;
    if (op.resource == Resource::worker) continue;
    op.resource = Resource::none;
    op.duration_s = 0;
  }
  step.ops.insert(step.ops.end(), buckets.begin(), buckets.end());
  return step;
}

}  // namespace

Profile to_all_reduce(const Profile& profile, int64_t bucket_bytes) {
  Profile out = profile;
  out.servers = 1;
  out.steps.clear();
  const Step first = bucketed(profile.steps[0], bucket_bytes);
  if (first.ops.size() == profile.steps[0].ops.size())
    bad("predict: " + profile.source + ": no uplink transfers to make an all-reduce of");
  // Ranks must agree on the buckets: all steps have the buckets of the first one, with their own
  // durations.
  for (const Step& recorded : profile.steps) {
    std::map<std::string, double> durations;
    for (const Op& op : recorded.ops)
      if (op.resource == Resource::worker) durations[op.name] = op.duration_s;
    Step& step = out.steps.emplace_back(first);
    for (Op& op : step.ops) {
      const auto it = durations.find(op.name);
      if (op.resource == Resource::worker && it != durations.end()) op.duration_s = it->second;
    }
  }
  out.notes.push_back("recorded with servers; for all-reduce the workers keep the variables, and "
                      "gradients go in buckets of at most " +
                      std::to_string(bucket_bytes) + " bytes, those of the first step");
  return out;
}

}  // namespace penstock::cluster
