#include "cluster/profile_json.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "base/error.h"
#include "base/json_mistake.h"

namespace penstock::cluster {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kFormat = "penstock-profile";
constexpr int kVersion = 1;
constexpr double kMicro = 1e-6;

[[noreturn]] void bad(const std::string& where, const std::string& what) {
  throw Error(Code::invalid_argument, "profile: " + where + ": " + what);
}

template <typename T>
bool in_range(const Json& number) {
  return number.is_number_unsigned() ? std::in_range<T>(number.get<uint64_t>())
                                     : std::in_range<T>(number.get<int64_t>());
}

// Returns the value of `key`, or `fallback` without the key.
template <typename T>
T value(const Json& object, const char* key, T fallback, const std::string& where) {
  const auto it = object.find(key);
  if (it == object.end()) return fallback;
  const bool fits = std::is_same_v<T, std::string> ? it->is_string()
                    : std::is_integral_v<T>        ? it->is_number_integer()
                                                   : it->is_number();
  if (!fits) bad(where, std::string(key) + " is of the wrong type: " + it->dump());
  if constexpr (std::is_integral_v<T>) {
    if (!in_range<T>(*it)) bad(where, std::string(key) + " is out of range: " + it->dump());
  }
  return it->get<T>();
}

Resource parse_resource(const std::string& name, const std::string& where) {
  for (size_t i = 0; i < kResources; ++i) {
    const auto r = static_cast<Resource>(i);
    if (resource_name(r) == name) return r;
  }
  bad(where, "resource must be none, worker, server, downlink, uplink, all_reduce or "
             "broadcast: " +
                 name);
}

Op read_op(const Json& json, const std::string& where) {
  if (!json.is_object()) bad(where, "an op is an object: " + json.dump().substr(0, 80));
  Op op;
  op.name = value<std::string>(json, "name", "", where);
  op.resource = parse_resource(value<std::string>(json, "resource", "none", where), where);
  op.server = value<int32_t>(json, "server", 0, where);
  op.duration_s = value<double>(json, "us", 0, where) * kMicro;
  op.bytes = value<int64_t>(json, "bytes", 0, where);
  const bool sized = is_transfer(op.resource) || is_collective(op.resource);
  op.known = op.resource == Resource::none || json.contains(sized ? "bytes" : "us");
  const double start_us = value<double>(json, "start_us", -1, where);
  if (start_us >= 0) {
    op.start_s = start_us * kMicro;
    op.end_s = value<double>(json, "end_us", start_us, where) * kMicro;
  }
  const auto deps = json.find("deps");
  if (deps == json.end()) return op;
  if (!deps->is_array()) bad(where, "deps is a list of op numbers: " + deps->dump());
  for (const Json& d : *deps) {
    if (!d.is_number_integer() || !in_range<int32_t>(d))
      bad(where, "deps is a list of op numbers: " + d.dump());
    op.deps.push_back(d.get<int32_t>());
  }
  return op;
}

Json write_op(const Op& op) {
  Json out{{"name", op.name}, {"resource", resource_name(op.resource)}};
  if (op.server != 0) out["server"] = op.server;
  if (is_transfer(op.resource) || is_collective(op.resource)) {
    if (op.known) out["bytes"] = op.bytes;
  } else if (op.known) {
    out["us"] = op.duration_s / kMicro;
  }
  if (op.start_s >= 0) {
    out["start_us"] = op.start_s / kMicro;
    out["end_us"] = op.end_s / kMicro;
  }
  if (!op.deps.empty()) out["deps"] = op.deps;
  return out;
}

}  // namespace

bool is_profile_json(std::string_view bytes) {
  return bytes.substr(0, 200).find(kFormat) != std::string_view::npos;
}

Profile read_profile_json(const std::string& file, std::string_view bytes) {
  const Json json = Json::parse(bytes, nullptr, false);
  if (json.is_discarded())
    throw Error(Code::data_loss, "profile: " + file + ": it is no JSON" + json_mistake(bytes));
  if (!json.is_object() || value<std::string>(json, "format", "", file) != kFormat)
    bad(file, "format must be \"" + std::string(kFormat) + "\"");
  if (const int64_t version = value<int64_t>(json, "version", 0, file); version != kVersion)
    bad(file, "version must be " + std::to_string(kVersion) + ": " + std::to_string(version));
  Profile out;
  out.source = file;
  out.servers = value<int32_t>(json, "servers", 1, file);
  out.examples = value<int64_t>(json, "examples", 0, file);
  const auto steps = json.find("steps");
  if (steps == json.end() || !steps->is_array()) bad(file, "steps is a list");
  for (const Json& s : *steps) {
    const std::string step = file + ": step " + std::to_string(out.steps.size());
    if (!s.is_object() || !s.contains("ops") || !s["ops"].is_array()) bad(step, "ops is a list");
    Step& to = out.steps.emplace_back();
    for (const Json& o : s["ops"])
      to.ops.push_back(read_op(o, step + ": op " + std::to_string(to.ops.size())));
  }
  check(out);
  return out;
}

std::string write_profile_json(const Profile& profile) {
  const Json head{{"format", kFormat},
                  {"version", kVersion},
                  {"servers", profile.servers},
                  {"examples", profile.examples}};
  std::string out = head.dump();
  out.pop_back();
  out += ",\"steps\":[";
  for (size_t s = 0; s < profile.steps.size(); ++s) {
    Json ops = Json::array();
    for (const Op& op : profile.steps[s].ops) ops.push_back(write_op(op));
    out += (s == 0 ? "\n" : ",\n") +
           Json{{"ops", ops}}.dump(-1, ' ', false, Json::error_handler_t::replace);
  }
  return out + "\n]}\n";
}

}  // namespace penstock::cluster
