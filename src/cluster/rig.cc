#include "cluster/rig.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json_mistake.h"

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

enum class Unit : uint8_t { rate, seconds, bytes, none };
struct Field {
  const char* key;
  double Rig::* value;
  Unit unit;
  double least, most;
};
// Beyond these limits a simulation would not end, or its times would lose precision.
constexpr double kLeastRate = 1, kMostRate = 1e15, kMostSeconds = 1e6, kMostBytes = 1e15;
constexpr double kLeastPiece_bytes = 1024;
constexpr double kMostStagger_s = 10;  // early workers run until the last one ends
constexpr double kMostGrowth = 16;
constexpr int32_t kMostCores = 1'000'000;
constexpr std::array<Field, 18> kFields{
    {{"server_rate", &Rig::server_rate, Unit::rate, kLeastRate, kMostRate},
     {"worker_rate", &Rig::worker_rate, Unit::rate, 0, kMostRate},
     {"duplex_loss", &Rig::duplex_loss, Unit::none, 0, 0.99},
     {"share_spread", &Rig::share_spread, Unit::none, 0, 10},
     {"newcomer", &Rig::newcomer, Unit::none, 0, 1},
     {"queue_bytes", &Rig::queue_bytes, Unit::bytes, 0, kMostBytes},
     {"queue_filled", &Rig::queue_filled, Unit::none, 0, 1},
     {"message_wait_s", &Rig::message_wait_s, Unit::seconds, 0, kMostSeconds},
     {"sender_queue_s", &Rig::sender_queue_s, Unit::seconds, 0, kMostSeconds},
     {"server_transfer_s", &Rig::server_transfer_s, Unit::seconds, 0, kMostSeconds},
     {"receive_s", &Rig::receive_s, Unit::seconds, 0, kMostSeconds},
     {"receive_s_per_byte", &Rig::receive_s_per_byte, Unit::seconds, 0, 1},
     {"compute_factor", &Rig::compute_factor, Unit::none, 1e-3, 1e6},
     {"burst_bytes", &Rig::burst_bytes, Unit::bytes, 0, kMostBytes},
     {"step_gap_s", &Rig::step_gap_s, Unit::seconds, 0, kMostSeconds},
     {"step_gap_transfer_s", &Rig::step_gap_transfer_s, Unit::seconds, 0, kMostSeconds},
     {"model_error", &Rig::model_error, Unit::none, 0, 1},
     {"stagger_s", &Rig::stagger_s, Unit::seconds, 0, kMostStagger_s}}};

constexpr double kSenderQueue_s = 1.0 / 1024;  // Linux's TCP small queues

// Sets the constants fitted by bench/cluster/accuracy.py on real TensorFlow recordings
// (docs/cluster-model.md).
void set_fitted(Rig* rig) {
  rig->sharing = Sharing::queue;
  rig->duplex_loss = 0.036;
  rig->queue_bytes = 300'000;
  rig->message_wait_s = 0.0097;
  rig->sender_queue_s = kSenderQueue_s;
  rig->server_cores = 1;
  rig->step_gap_transfer_s = 6.5e-5;
}

[[noreturn]] void bad(const std::string& what) { throw Error(Code::invalid_argument, what); }

std::string print(double v) {
  char out[32];
  std::snprintf(out, sizeof out, "%.6g", v);
  return out;
}

// "network: FILE: KEY must be WHAT: VALUE"
[[noreturn]] void bad_value(const std::string& where, const std::string& what, const Json& value) {
  bad(where + " must be " + what + ": " +
      value.dump(-1, ' ', false, Json::error_handler_t::replace));
}

double read_rate(const std::string& where, const Json& value, double least) {
  if (value.is_string()) {
    try {
      return parse_rate(value.get<std::string>());
    } catch (const Error& e) {
      throw Error(e.code(), where + ": " + e.message());
    }
  }
  const double v = value.is_number() ? value.get<double>() : -1;
  if ((v >= kLeastRate || v == least) && v <= kMostRate) return v;
  bad_value(where,
            std::string("payload bytes/s from 1 to 1e15") +
                (least == 0 ? ", 0 for no limit," : "") + " or a rate such as \"190Mbit\"",
            value);
}

double read_number(const std::string& where, const Json& value, const Field& f) {
  if (f.unit == Unit::rate) return read_rate(where, value, f.least);
  const double v = value.is_number() ? value.get<double>() : -1;
  if (v >= f.least && v <= f.most) return v;
  const char* unit = f.unit == Unit::seconds ? " of seconds"
                     : f.unit == Unit::bytes ? " of bytes"
                                             : "";
  bad_value(where,
            std::string("a number") + unit + " from " + print(f.least) + " to " + print(f.most),
            value);
}

double read_piece(const std::string& where, const Json& value) {
  const double v = value.is_number() ? value.get<double>() : -1;
  if (v == 0 || (v >= kLeastPiece_bytes && v <= kMostBytes)) return v;
  bad_value(where, "0 or a number of bytes from 1024 to 1e15", value);
}

int32_t read_cores(const std::string& where, const Json& value) {
  const double v = value.is_number() ? value.get<double>() : -1;
  if (v >= 0 && v <= kMostCores && v == std::floor(v)) return static_cast<int32_t>(v);
  bad_value(where, "a whole number from 0 (never waits) to 1000000", value);
}

void read_field(const std::string& file, const std::string& key, const Json& value, Rig* rig) {
  const std::string where = "network: " + file + ": " + key;
  for (const Field& f : kFields) {
    if (key != f.key) continue;
    rig->*f.value = read_number(where, value, f);
    return;
  }
  if (key == "first_bytes") {
    rig->scheduler.first_bytes = read_piece(where, value);
  } else if (key == "then_bytes") {
    rig->scheduler.then_bytes = read_piece(where, value);
  } else if (key == "connection_bytes") {
    rig->scheduler.connection_bytes = read_piece(where, value);
  } else if (key == "most_window_bytes") {
    rig->scheduler.most_bytes = read_piece(where, value);
  } else if (key == "credit_s") {
    rig->scheduler.credit_s =
        read_number(where, value, {"", nullptr, Unit::seconds, 0, kMostSeconds});
  } else if (key == "window_growth") {
    rig->scheduler.growth = read_number(where, value, {"", nullptr, Unit::none, 1, kMostGrowth});
  } else if (key == "sharing_exponent") {
    const Field exponent{"", nullptr, Unit::none, kLeastExponent, kMostExponent};
    rig->sharing_exponent = read_number(where, value, exponent);
  } else if (key == "server_cores") {
    rig->server_cores = read_cores(where, value);
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
    std::string names;
    for (const std::string_view policy : kPolicies) {
      if (!names.empty()) names += policy == std::end(kPolicies)[-1] ? " or " : ", ";
      names += policy;
    }
    bad("predict: policy must be " + names + ": " + std::string(name));
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
    if (error != std::errc() || unit != name || !(number > 0)) continue;
    const double rate = number * bytes;
    if (rate >= kLeastRate && rate <= kMostRate) return rate;
    bad("rate must be from 1 B/s to 1e15 B/s: " + std::string(text));
  }
  bad("rate must be positive and end in Gbit, Mbit, kbit, GB/s, MB/s or kB/s: " +
      std::string(text));
}

void read_rig(const std::string& file, std::string_view json, Rig* rig) {
  const Json parsed = Json::parse(json, nullptr, false);
  if (parsed.is_discarded())
    throw Error(Code::data_loss, "network: " + file + ": it is no JSON" + json_mistake(json));
  if (!parsed.is_object()) bad("network: " + file + ": it is no object");
  for (const auto& [key, value] : parsed.items()) read_field(file, key, value, rig);
}

std::string write_rig(const Rig& rig, const std::vector<std::string>& keys) {
  Json all;
  for (const auto& [name, sharing] : kSharings)
    if (sharing == rig.sharing) all["sharing"] = name;
  for (const Field& f : kFields) all[f.key] = rig.*f.value;
  all["first_bytes"] = rig.scheduler.first_bytes;
  all["then_bytes"] = rig.scheduler.then_bytes;
  all["sharing_exponent"] = rig.sharing_exponent;
  for (const auto& [name, pieces] : kPieces)
    if (pieces == rig.scheduler.pieces) all["pieces"] = name;
  all["server_cores"] = rig.server_cores;
  Json out = Json::object();
  for (const std::string& key : keys) out[key] = all.at(key);
  return out.dump(2) + "\n";
}

}  // namespace penstock::cluster
