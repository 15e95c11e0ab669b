// Test helper: a profile of variables, each read, used by one op, and applied.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "cluster/profile_json.h"

namespace penstock::cluster {

// Five ops for each variable: variable on its server, down, computing of `use_us`, up, applying of
// `apply_us`.
inline Profile profile_of_variables(const std::vector<std::pair<std::string, int>>& bytes_of,
                                    int use_us, int apply_us, int servers = 1) {
  std::string ops;
  int at = 0;
  for (const auto& [name, bytes] : bytes_of) {
    const auto n = [&](int i) { return std::to_string(at + i); };
    const std::string b = std::to_string(bytes);
    ops += std::string(at == 0 ? "" : ",") + R"({"name":")" + name + R"(","resource":"server"},)" +
           R"({"resource":"downlink","bytes":)" + b + R"(,"deps":[)" + n(0) + "]}," +
           R"({"resource":"worker","us":)" + std::to_string(use_us) + R"(,"deps":[)" + n(1) +
           "]}," + R"({"resource":"uplink","bytes":)" + b + R"(,"deps":[)" + n(2) + "]}," +
           R"({"name":"apply","resource":"server","us":)" + std::to_string(apply_us) +
           R"(,"deps":[)" + n(0) + "," + n(3) + "]}";
    at += 5;
  }
  return read_profile_json("f", R"({"format":"penstock-profile","version":1,"servers":)" +
                                    std::to_string(servers) + R"(,"steps":[{"ops":[)" + ops +
                                    "]}]}");
}

}  // namespace penstock::cluster
