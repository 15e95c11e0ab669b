// Prices of machines, and the cheapest that meets needs.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/provision.h"

namespace penstock {

// A machine that can be had, and its price an hour.
struct MachineKind {
  std::string name;
  Machine has;
  double price = 0;
};

// An hour of one unit of each resource, or of whole machines, or both.
struct Prices {
  double core = 0;
  double memory_gb = 0;  // 10^9 bytes
  double disk_mb_s = 0;  // 10^6 bytes per second
  std::string currency;
  std::vector<MachineKind> machines;

  bool has_units() const { return core > 0 || memory_gb > 0 || disk_mb_s > 0; }
};

// Reads a file of docs/format/provision.md. Throws DATA_LOSS and INVALID_ARGUMENT that name the
// file and the key.
Prices parse_prices(const std::string& file, std::string_view json);

struct Purchase {
  size_t option = 0;    // index into Provision::options
  std::string machine;  // its kind; empty: units, with whole cores
  double price = 0;     // an hour
};
// Returns the cheapest of the options that fit into `within`, the one with less memory first; none
// if no machine suffices.
std::optional<Purchase> cheapest(const Provision& provision, const Prices& prices,
                                 const Machine& within = {});

}  // namespace penstock
