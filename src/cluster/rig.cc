#include "cluster/rig.h"

#include <array>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"

namespace penstock::cluster {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kPaperWindow_bytes = 4 << 20;
constexpr double kHttp2Window_bytes = 65535, kMostWindow_bytes = 16 << 20, kCredit_s = 1e-4;
constexpr double kTurn_bytes = 16384;
constexpr double kSlice_bytes = 200'000;
constexpr double kMpiMessage_s = 1e-5;
constexpr std::array<std::pair<std::string_view, Pieces>, 3> kPieces{
    {{"behind_new", Pieces::behind_new},
     {"in_turn", Pieces::in_turn},
     {"by_priority", Pieces::by_priority}}};
constexpr double kMeasuredExponent = 0.35, kLeastExponent = 0.1, kMostExponent = 10;
constexpr std::array<std::pair<std::string_view, Sharing>, 6> kSharings{
    {{"equal", Sharing::equal},
     {"max_min", Sharing::max_min},
     {"round_trip", Sharing::round_trip},
     {"alpha_fair", Sharing::alpha_fair},
     {"queue", Sharing::queue},
     {"tcp", Sharing::tcp}}};

struct Field {
  const char* key;
  double Rig::* value;
  double most;
};
constexpr double kAny = 1e18;
constexpr std::array<Field, 16> kFields{{{"server_rate", &Rig::server_rate, kAny},
                                         {"worker_rate", &Rig::worker_rate, kAny},
                                         {"duplex_loss", &Rig::duplex_loss, 0.99},
                                         {"share_spread", &Rig::share_spread, 10},
                                         {"newcomer", &Rig::newcomer, 1},
                                         {"queue_bytes", &Rig::queue_bytes, kAny},
                                         {"queue_filled", &Rig::queue_filled, 10},
                                         {"server_transfer_s", &Rig::server_transfer_s, kAny},
                                         {"receive_s", &Rig::receive_s, kAny},
                                         {"receive_s_per_byte", &Rig::receive_s_per_byte, kAny},
                                         {"compute_factor", &Rig::compute_factor, kAny},
                                         {"burst_bytes", &Rig::burst_bytes, kAny},
                                         {"step_gap_s", &Rig::step_gap_s, kAny},
                                         {"step_gap_transfer_s", &Rig::step_gap_transfer_s, kAny},
                                         {"model_error", &Rig::model_error, 1},
                                         {"stagger_s", &Rig::stagger_s, kAny}}};

// Fitted by bench/cluster/accuracy.py on real TensorFlow recordings; docs/cluster-model.md.
void set_fitted(Rig* rig) {
  rig->sharing = Sharing::queue;
  rig->duplex_loss = 0.038;
  rig->queue_bytes = 300'000;
  rig->server_cores = 1;
  rig->step_gap_transfer_s = 9.6e-5;
}

[[noreturn]] void bad(const std::string& what) { throw Error(Code::invalid_argument, what); }

double read_number(const std::string& where, const Json& value, double most) {
  if (value.is_string()) return parse_rate(value.get<std::string>());
  const double v = value.is_number() ? value.get<double>() : -1;
  if (!(v >= 0 && v <= most)) bad(where + " must be a number in range: " + value.dump());
  return v;
}

void read_field(const std::string& file, const std::string& key, const Json& value, Rig* rig) {
  const std::string where = "network: " + file + ": " + key;
  for (const Field& f : kFields) {
    if (key != f.key) continue;
    rig->*f.value = read_number(where, value, f.most);
    return;
  }
  if (key == "first_bytes") {
    rig->scheduler.first_bytes = read_number(where, value, kAny);
  } else if (key == "then_bytes") {
    rig->scheduler.then_bytes = read_number(where, value, kAny);
  } else if (key == "connection_bytes") {
    rig->scheduler.connection_bytes = read_number(where, value, kAny);
  } else if (key == "credit_s") {
    rig->scheduler.credit_s = read_number(where, value, kAny);
  } else if (key == "window_growth") {
    rig->scheduler.growth = read_number(where, value, kAny);
  } else if (key == "most_window_bytes") {
    rig->scheduler.most_bytes = read_number(where, value, kAny);
  } else if (key == "sharing_exponent") {
    rig->sharing_exponent = read_number(where, value, kMostExponent);
    if (rig->sharing_exponent < kLeastExponent)
      bad(where + " must be from 0.1 to 10: " + value.dump());
  } else if (key == "server_cores") {
    rig->server_cores = static_cast<int32_t>(read_number(where, value, 1e6));
  } else if (key == "pieces") {
    for (const auto& [name, pieces] : kPieces) {
      if (value != name) continue;
      rig->scheduler.pieces = pieces;
      return;
    }
    bad(where + " must be behind_new, in_turn or by_priority: " + value.dump());
  } else if (key == "sharing") {
    for (const auto& [name, sharing] : kSharings) {
      if (value != name) continue;
      rig->sharing = sharing;
      return;
    }
    bad(where + " must be equal, max_min, round_trip, alpha_fair, queue or tcp: " + value.dump());
  } else {
    bad(where + ": there is no such key");
  }
}

}  // namespace

void set_policy(std::string_view name, Rig* rig) {
  Rig plain;
  plain.server_rate = rig->server_rate;
  plain.worker_rate = rig->worker_rate;
  plain.worker_lanes = rig->worker_lanes;
  plain.compute_factor = rig->compute_factor;
  plain.stagger_s = rig->stagger_s;
  plain.model_error = rig->model_error;
  plain.sharing = Sharing::equal;
  if (name == "grpc") {
    set_fitted(&plain);
  } else if (name == "paper") {
    plain.sharing = Sharing::max_min;
    plain.scheduler.first_bytes = kPaperWindow_bytes;
    plain.worker_lanes = 1;
  } else if (name == "maxmin") {
    plain.sharing = Sharing::max_min;
  } else if (name == "rtt") {
    plain.sharing = Sharing::round_trip;
  } else if (name == "alpha-fair") {
    plain.sharing = Sharing::alpha_fair;
    plain.sharing_exponent = kMeasuredExponent;
  } else if (name == "http2") {
    plain.scheduler = {65536, 65536};
  } else if (name == "chttp2") {
    set_fitted(&plain);
    plain.scheduler = {kHttp2Window_bytes, 0, Pieces::behind_new, kCredit_s,
                       kHttp2Window_bytes, 2, kMostWindow_bytes};
  } else if (name == "grpc-window") {
    plain.scheduler = {4 << 20, 1 << 20};
  } else if (name == "processor-sharing") {
    plain.scheduler = {kTurn_bytes, kTurn_bytes, Pieces::in_turn};
  } else if (name == "p3") {
    set_fitted(&plain);
    plain.scheduler = {kSlice_bytes, kSlice_bytes, Pieces::by_priority};
  } else if (name == "one-worker-at-a-time") {
    set_fitted(&plain);
    plain.sharing = Sharing::tcp;
    plain.newcomer = 0;
  } else if (name == "rdma") {
    plain.sharing = Sharing::max_min;
  } else if (name == "mpi") {
    plain.sharing = Sharing::max_min;
    plain.receive_s = kMpiMessage_s;
  } else if (name != "fifo") {
    bad("predict: policy must be grpc, paper, fifo, maxmin, rtt, alpha-fair, http2, chttp2, "
        "grpc-window, "
        "processor-sharing, p3, one-worker-at-a-time, rdma or mpi: " +
        std::string(name));
  }
  *rig = plain;
}

bool is_unvalidated(std::string_view policy) { return policy == "rdma" || policy == "mpi"; }

double parse_rate(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string unit(end, text.data() + text.size());
  constexpr std::array<std::pair<std::string_view, double>, 8> kUnits{{{"Gbit", 1.25e8},
                                                                       {"Mbit", 1.25e5},
                                                                       {"kbit", 125},
                                                                       {"bit", 0.125},
                                                                       {"GB/s", 1e9},
                                                                       {"MB/s", 1e6},
                                                                       {"kB/s", 1e3},
                                                                       {"B/s", 1}}};
  for (const auto& [name, bytes] : kUnits) {
    if (error == std::errc() && unit == name && number > 0 && std::isfinite(number * bytes))
      return number * bytes;
  }
  bad("rate must be positive and end in Gbit, Mbit, kbit, GB/s, MB/s or kB/s: " +
      std::string(text));
}

void read_rig(const std::string& file, std::string_view json, Rig* rig) {
  const Json parsed = Json::parse(json, nullptr, false);
  if (parsed.is_discarded()) throw Error(Code::data_loss, "network: " + file + ": it is no JSON");
  if (!parsed.is_object()) bad("network: " + file + ": it is no object");
  for (const auto& [key, value] : parsed.items()) read_field(file, key, value, rig);
}

std::string write_rig(const Rig& rig) {
  Json out;
  for (const auto& [name, sharing] : kSharings)
    if (sharing == rig.sharing) out["sharing"] = name;
  for (const Field& f : kFields)
    if (rig.*f.value >= 0) out[f.key] = rig.*f.value;
  out["first_bytes"] = rig.scheduler.first_bytes;
  out["then_bytes"] = rig.scheduler.then_bytes;
  if (rig.scheduler.credit_s >= 0) {
    out["credit_s"] = rig.scheduler.credit_s;
    out["connection_bytes"] = rig.scheduler.connection_bytes;
    out["window_growth"] = rig.scheduler.growth;
    out["most_window_bytes"] = rig.scheduler.most_bytes;
  }
  out["sharing_exponent"] = rig.sharing_exponent;
  for (const auto& [name, pieces] : kPieces)
    if (pieces == rig.scheduler.pieces) out["pieces"] = name;
  out["server_cores"] = rig.server_cores;
  return out.dump(2) + "\n";
}

}  // namespace penstock::cluster
