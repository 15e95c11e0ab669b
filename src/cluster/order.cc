#include "cluster/order.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <queue>
#include <tuple>

#include "base/error.h"
#include "base/random.h"
#include "cluster/placement.h"
#include "cluster/tictac.h"

namespace penstock::cluster {
namespace {

constexpr double kLast = 1e9;
constexpr std::array<std::pair<const char*, Order>, 7> kOrders{{{"traced", Order::traced},
                                                                {"reverse", Order::reverse},
                                                                {"random", Order::random},
                                                                {"tic", Order::tic},
                                                                {"tac", Order::tac},
                                                                {"sequential", Order::sequential},
                                                                {"layer", Order::layer}}};

// Identifies a transfer in every step.
using Key = std::tuple<Resource, int32_t, std::string>;
Key key_of(const Op& op) { return {op.resource, op.server, op.name}; }

double recorded(const Op& op) {
  return std::max(0.0, is_transfer(op.resource) ? op.end_s : op.start_s);
}

void reverse(Step* step) {
  double last_s = 0;
  for (const Op& op : step->ops) last_s = std::max(last_s, recorded(op));
  const auto n = static_cast<double>(step->ops.size());
  for (size_t i = 0; i < step->ops.size(); ++i) {
    Op& op = step->ops[i];
    // Among equal times the later in the file goes first.
    if (is_transfer(op.resource))
      op.priority = last_s - recorded(op) + 1e-9 * (n - static_cast<double>(i));
  }
}

void shuffle(Step* step, RandomStream* random) {
  for (Op& op : step->ops)
    if (is_transfer(op.resource)) op.priority = random->next_double();
}

// Returns a topological order; among ready ops the one recorded first.
std::vector<int32_t> recorded_order(const Step& step) {
  using Entry = std::pair<double, int32_t>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> ready;
  std::vector<std::vector<int32_t>> next(step.ops.size());
  std::vector<size_t> waits(step.ops.size());
  for (size_t i = 0; i < step.ops.size(); ++i) {
    waits[i] = step.ops[i].deps.size();
    for (const int32_t d : step.ops[i].deps)
      next[static_cast<size_t>(d)].push_back(static_cast<int32_t>(i));
    if (waits[i] == 0) ready.emplace(recorded(step.ops[i]), static_cast<int32_t>(i));
  }
  std::vector<int32_t> out;
  while (!ready.empty()) {
    const int32_t i = ready.top().second;
    ready.pop();
    out.push_back(i);
    for (const int32_t s : next[static_cast<size_t>(i)]) {
      const auto at = static_cast<size_t>(s);
      if (--waits[at] == 0) ready.emplace(recorded(step.ops[at]), s);
    }
  }
  return out;
}

void chain_transfers(Step* step) {
  std::array<int32_t, 2> last{-1, -1};  // downlink, uplink
  for (const int32_t i : recorded_order(*step)) {
    Op& op = step->ops[static_cast<size_t>(i)];
    if (!is_transfer(op.resource)) continue;
    int32_t& before = last[op.resource == Resource::uplink ? 1 : 0];
    if (before >= 0 && std::ranges::find(op.deps, before) == op.deps.end())
      op.deps.push_back(before);
    before = i;
  }
}

// Returns for each op when its result is first needed, as a rank among the worker's ops; kLast:
// never.
std::vector<double> first_needs(const Step& step) {
  const std::vector<int32_t> order = recorded_order(step);
  std::vector<double> rank(step.ops.size(), kLast), out(step.ops.size(), kLast);
  for (size_t k = 0; k < order.size(); ++k)
    rank[static_cast<size_t>(order[k])] = static_cast<double>(k);
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    const auto i = static_cast<size_t>(*it);
    const bool worker = step.ops[i].resource == Resource::worker;
    const double need = worker ? rank[i] : out[i];
    for (const int32_t d : step.ops[i].deps) {
      double& before = out[static_cast<size_t>(d)];
      before = std::min(before, need);
    }
  }
  return out;
}

std::vector<double> layer_priorities(const Step& step) {
  std::vector<double> out = first_needs(step);
  const std::vector<int32_t> variables = variables_of(step);
  std::map<int32_t, double> layers;
  for (size_t i = 0; i < step.ops.size(); ++i) {
    if (step.ops[i].resource != Resource::downlink || variables[i] < 0) continue;
    const auto [it, fresh] = layers.emplace(variables[i], out[i]);
    if (!fresh) it->second = std::min(it->second, out[i]);
  }
  for (size_t i = 0; i < step.ops.size(); ++i) {
    if (step.ops[i].resource != Resource::uplink) continue;
    const auto it = layers.find(variables[i]);
    out[i] = it == layers.end() ? kLast : it->second;
  }
  return out;
}

// Returns for each op of the first step the mean time over all steps of the op with that name.
std::vector<double> mean_seconds(const Profile& profile, double rate) {
  std::map<Key, std::pair<double, double>> sums;
  for (const Step& step : profile.steps) {
    for (const Op& op : step.ops) {
      auto& [sum, count] = sums[key_of(op)];
      sum += is_transfer(op.resource) ? static_cast<double>(op.bytes) / rate : op.duration_s;
      count += 1;
    }
  }
  std::vector<double> out;
  for (const Op& op : profile.steps[0].ops) {
    const auto& [sum, count] = sums[key_of(op)];
    out.push_back(sum / count);
  }
  return out;
}

// Gives transfers of all steps the priorities of the first step's transfers; -1 in `wanted` keeps
// the recorded priority.
template <typename Number>
void enforce(const std::vector<Number>& wanted, Profile* profile) {
  std::map<Key, double> priorities;
  const Step& first = profile->steps[0];
  for (size_t i = 0; i < first.ops.size(); ++i) {
    if (is_transfer(first.ops[i].resource) && wanted[i] >= 0)
      priorities.emplace(key_of(first.ops[i]), static_cast<double>(wanted[i]));
  }
  for (Step& step : profile->steps) {
    for (Op& op : step.ops) {
      const auto it = priorities.find(key_of(op));
      if (it != priorities.end()) op.priority = it->second;
    }
  }
}

}  // namespace

Order parse_order(const std::string& name) {
  for (const auto& [word, order] : kOrders)
    if (name == word) return order;
  throw Error(Code::invalid_argument, "predict: order must be traced, reverse, random, tic, tac, "
                                      "sequential or layer: " +
                                          name);
}

Profile with_order(Profile profile, Order order, double rate, uint64_t seed) {
  RandomStream random(seed, 0, 0x6f7264);
  switch (order) {
    case Order::traced: break;
    case Order::reverse:
      for (Step& s : profile.steps) reverse(&s);
      break;
    case Order::random:
      for (Step& s : profile.steps) shuffle(&s, &random);
      break;
    case Order::tic: enforce(tic_priorities(profile.steps[0]), &profile); break;
    case Order::tac:
      enforce(tac_priorities(profile.steps[0], mean_seconds(profile, rate)), &profile);
      break;
    case Order::sequential:
      for (Step& s : profile.steps) chain_transfers(&s);
      break;
    case Order::layer: enforce(layer_priorities(profile.steps[0]), &profile); break;
  }
  return profile;
}

std::string write_order(const Profile& profile) {
  using Json = nlohmann::ordered_json;
  std::vector<const Op*> transfers;
  for (const Op& op : profile.steps[0].ops)
    if (is_transfer(op.resource)) transfers.push_back(&op);
  const auto place = [](const Op* op) {
    return std::tuple(op->resource, op->server, op->priority >= 0 ? op->priority : recorded(*op));
  };
  std::ranges::stable_sort(transfers, {}, place);
  Json list = Json::array();
  int64_t count = 0, rank = 0;
  for (size_t i = 0; i < transfers.size(); ++i, ++count) {
    const auto mine = place(transfers[i]);
    const bool first = i == 0 || std::get<0>(mine) != std::get<0>(place(transfers[i - 1])) ||
                       std::get<1>(mine) != std::get<1>(place(transfers[i - 1]));
    if (first) count = 0;
    if (first || mine != place(transfers[i - 1])) rank = count;
    list.push_back({{"name", transfers[i]->name},
                    {"link", resource_name(transfers[i]->resource)},
                    {"server", transfers[i]->server},
                    {"priority", rank}});
  }
  const Json out{{"format", "penstock-order"}, {"version", 1}, {"transfers", list}};
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace penstock::cluster
