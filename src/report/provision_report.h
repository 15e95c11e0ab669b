// Answers of `penstock provision`, as text and as JSON.
#pragma once

#include <optional>
#include <string>

#include "model/prices.h"
#include "trace/trace.h"

namespace penstock {

struct ProvisionQuestion {
  double rate = 0;  // elements of the root per second
  Machine machine;  // that is there
  std::optional<Prices> prices;
};

struct ProvisionAnswer {
  Provision provision;
  std::optional<size_t> fits;  // the first option that the machine has room for
  Reachable there;             // the most that it gives
  std::optional<Purchase> purchase;

  bool is_reached() const { return fits.has_value(); }
};

ProvisionAnswer answer_provision(const Analysis& analysis, const ProvisionQuestion& question);

// Lines of at most 80 columns.
std::string provision_text(const Analysis& analysis, const ProvisionQuestion& question,
                           const ProvisionAnswer& answer);
Json provision_json(const Analysis& analysis, const ProvisionQuestion& question,
                    const ProvisionAnswer& answer);

}  // namespace penstock
