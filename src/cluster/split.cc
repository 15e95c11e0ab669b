#include "cluster/split.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/error.h"
#include "cluster/placement.h"

namespace penstock::cluster {
namespace {

constexpr int64_t kMostParts = 50'000;  // most ops of parts in a step

// Split variables: the server of each part.
using Parts = std::map<std::string, std::vector<int32_t>>;

struct Size {
  int64_t largest = 0;  // largest transfer
  int64_t total = 0;    // of all transfers in a step
  int32_t server = 0;
};

std::map<std::string, Size> sizes_of(const Profile& profile) {
  std::map<std::string, Size> out;
  for (const Step& step : profile.steps) {
    const std::vector<int32_t> variables = variables_of(step);
    std::map<std::string, Size> here;
    for (size_t i = 0; i < step.ops.size(); ++i) {
      const Op& op = step.ops[i];
      if (!is_transfer(op.resource) || variables[i] < 0) continue;
      Size& size = here[step.ops[static_cast<size_t>(variables[i])].name];
      size.largest = std::max(size.largest, op.bytes);
      size.total += op.bytes;
      size.server = op.server;
    }
    for (const auto& [name, size] : here) {
      Size& most = out[name];
      most = {std::max(most.largest, size.largest), std::max(most.total, size.total), size.server};
    }
  }
  return out;
}

Parts parts_of(const Profile& profile, int64_t most_bytes) {
  std::vector<int64_t> load(static_cast<size_t>(profile.servers), 0);
  std::vector<std::tuple<int64_t, std::string, int64_t>> cut;  // -(bytes of a part), name, parts
  for (const auto& [name, size] : sizes_of(profile)) {
    const int64_t count = (size.largest + most_bytes - 1) / most_bytes;
    if (count > kMostParts) {
      throw Error(Code::invalid_argument, "replay: what-if split=" + std::to_string(most_bytes) +
                                              ": " + name + " would have " + std::to_string(count) +
                                              " parts, at most 50000 are simulated");
    }
    if (count > 1) {
      cut.emplace_back(-size.total / count, name, count);
    } else {
      load[static_cast<size_t>(size.server)] += size.total;
    }
  }
  std::ranges::sort(cut);
  Parts out;
  for (const auto& [bytes, name, count] : cut) {
    for (int64_t part = 0; part < count; ++part) {
      const auto least = std::ranges::min_element(load) - load.begin();
      out[name].push_back(static_cast<int32_t>(least));
      load[static_cast<size_t>(least)] -= bytes;
    }
  }
  return out;
}

// Splits the variables of one step.
class Cutter {
 public:
  Cutter(const Step& step, const Parts& parts)
      : step_(step), variables_(variables_of(step)), servers_(step.ops.size()) {
    for (size_t i = 0; i < step.ops.size(); ++i) {
      first_.push_back(static_cast<int32_t>(count_));
      if (variables_[i] >= 0) {
        const auto it = parts.find(step.ops[static_cast<size_t>(variables_[i])].name);
        if (it != parts.end()) servers_[i] = &it->second;
      }
      count_ += parts_of(i);
      added_ += servers_[i] != nullptr ? static_cast<int64_t>(parts_of(i)) : 0;
    }
  }

  int64_t added() const { return added_; }

  Step cut() {
    out_.ops.resize(count_);
    for (size_t i = 0; i < step_.ops.size(); ++i)
      for (size_t part = 0; part < parts_of(i); ++part) copy(i, part);
    return std::move(out_);
  }

 private:
  size_t parts_of(size_t i) const { return servers_[i] == nullptr ? 1 : servers_[i]->size(); }

  void copy(size_t i, size_t part) {
    Op op = step_.ops[i];
    const size_t count = parts_of(i);
    if (servers_[i] != nullptr) {
      const auto n = static_cast<int64_t>(count), k = static_cast<int64_t>(part);
      const double share = 1.0 / static_cast<double>(count);
      op.name += "/part_" + std::to_string(part);
      op.server = (*servers_[i])[part];
      op.duration_s *= share;
      if (op.bytes > 0) op.bytes = std::max<int64_t>(1, op.bytes / n + (k < op.bytes % n ? 1 : 0));
      if (op.start_s >= 0 && op.end_s > op.start_s)
        op.end_s = op.start_s + (op.end_s - op.start_s) * share * static_cast<double>(part + 1);
    }
    op.deps.clear();
    for (const int32_t d : step_.ops[i].deps) op.deps.push_back(dependency(i, part, d));
    out_.ops[static_cast<size_t>(first_[i]) + part] = std::move(op);
  }

  // Returns the op that part `part` of op i waits for, instead of op d.
  int32_t dependency(size_t i, size_t part, int32_t d) {
    const auto at = static_cast<size_t>(d);
    if (servers_[at] == nullptr) return first_[at];
    if (servers_[i] == servers_[at]) return first_[at] + static_cast<int32_t>(part);
    const auto [it, fresh] = joined_.emplace(d, 0);
    if (fresh) {
      std::vector<int32_t> all;
      for (size_t k = 0; k < parts_of(at); ++k) all.push_back(first_[at] + static_cast<int32_t>(k));
      it->second = append(&out_, step_.ops[at].name, Resource::none, 0, 0, std::move(all));
    }
    return it->second;
  }

  const Step& step_;
  std::vector<int32_t> variables_;
  std::vector<const std::vector<int32_t>*>
      servers_;                 // by op: servers of its parts; null: not split
  std::vector<int32_t> first_;  // by op: its first part in out_
  size_t count_ = 0;
  int64_t added_ = 0;
  std::map<int32_t, int32_t> joined_;  // from an op to one that waits for all its parts
  Step out_;
};

}  // namespace

Profile split_variables(const Profile& profile, int64_t most_bytes) {
  const std::string who = "replay: what-if split=" + std::to_string(most_bytes) + ": ";
  const Parts parts = parts_of(profile, most_bytes);
  if (parts.empty())
    throw Error(Code::invalid_argument, who + "no variable has a transfer of more bytes");
  Profile out = profile;
  int64_t count = 0;
  for (const auto& [name, servers] : parts) count += static_cast<int64_t>(servers.size());
  for (Step& step : out.steps) {
    Cutter cutter(step, parts);
    if (cutter.added() > kMostParts) {
      throw Error(Code::invalid_argument,
                  who + "steps would have " + std::to_string(cutter.added()) +
                      " ops of parts, at most 50000 are simulated: larger parts are needed");
    }
    step = cutter.cut();
  }
  out.notes.push_back("what if split=" + std::to_string(most_bytes) + ": " +
                      std::to_string(parts.size()) + " variables are cut into " +
                      std::to_string(count) + " parts, each on the emptiest of " +
                      std::to_string(profile.servers) + " servers");
  return out;
}

}  // namespace penstock::cluster
