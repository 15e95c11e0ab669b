#include "model/prices.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"

namespace penstock {
namespace {

using Json = nlohmann::ordered_json;

class Reader {
 public:
  explicit Reader(const std::string& file) : who_("prices: " + file + ": ") {}

  Prices read(std::string_view text) const {
    const Json parsed = Json::parse(text, nullptr, false);
    if (parsed.is_discarded()) throw Error(Code::data_loss, who_ + "it is no JSON");
    if (!parsed.is_object()) fail("it is no object");
    Prices out;
    for (const auto& [key, value] : parsed.items()) {
      if (key == "core")
        out.core = amount(key, value);
      else if (key == "memory_gb")
        out.memory_gb = amount(key, value);
      else if (key == "disk_mb_s")
        out.disk_mb_s = amount(key, value);
      else if (key == "currency")
        out.currency = text_of(key, value);
      else if (key == "machines")
        out.machines = machines(value);
      else
        fail(key + ": keys are core, memory_gb, disk_mb_s, currency and machines");
    }
    if (!out.has_units() && out.machines.empty())
      fail("core, memory_gb or disk_mb_s must have a price of more than 0, or machines be given");
    return out;
  }

 private:
  [[noreturn]] void fail(const std::string& why) const {
    throw Error(Code::invalid_argument, who_ + why);
  }
  std::string shown(const Json& value) const {
    return value.dump(-1, ' ', false, Json::error_handler_t::replace);
  }
  double amount(const std::string& key, const Json& value) const {
    if (!value.is_number() || !(value.get<double>() >= 0))
      fail(key + ": a number of at least 0 is expected: " + shown(value));
    return value.get<double>();
  }
  std::string text_of(const std::string& key, const Json& value) const {
    if (!value.is_string()) fail(key + ": a text is expected: " + shown(value));
    return value.get<std::string>();
  }

  std::vector<MachineKind> machines(const Json& list) const {
    if (!list.is_array()) fail("machines: a list of objects is expected: " + shown(list));
    std::vector<MachineKind> out;
    for (const Json& one : list) out.push_back(machine(one, out.size()));
    return out;
  }

  MachineKind machine(const Json& one, size_t index) const {
    const std::string at = "machines[" + std::to_string(index) + "]";
    if (!one.is_object()) fail(at + ": an object is expected: " + shown(one));
    MachineKind out;
    bool priced = false;
    for (const auto& [key, value] : one.items()) {
      const std::string name = at + "." + key;
      if (key == "name")
        out.name = text_of(name, value);
      else if (key == "cores")
        out.has.cores = amount(name, value);
      else if (key == "memory_gb")
        out.has.memory_bytes = 1e9 * amount(name, value);
      else if (key == "disk_mb_s")
        out.has.disk_bytes_per_second = 1e6 * amount(name, value);
      else if (key == "price")
        priced = true, out.price = amount(name, value);
      else
        fail(name + ": keys are name, cores, memory_gb, disk_mb_s and price");
    }
    if (out.name.empty() || !priced) fail(at + ": it needs a name and a price");
    return out;
  }

  const std::string who_;
};

double unit_price(const Needs& needs, const Prices& prices) {
  return prices.core * std::ceil(needs.cores) + prices.memory_gb * needs.memory_bytes * 1e-9 +
         prices.disk_mb_s * needs.disk_bytes_per_second * 1e-6;
}

}  // namespace

Prices parse_prices(const std::string& file, std::string_view json) {
  return Reader(file).read(json);
}

std::optional<Purchase> cheapest(const Provision& provision, const Prices& prices,
                                 const Machine& within) {
  std::optional<Purchase> best;
  const auto offer = [&](size_t option, const std::string& machine, double price) {
    if (!best || price < best->price) best = {option, machine, price};
  };
  for (size_t i = 0; i < provision.options.size(); ++i) {
    const Needs& needs = provision.options[i].needs;
    if (!within.has(needs)) continue;
    if (prices.has_units()) offer(i, "", unit_price(needs, prices));
    for (const MachineKind& kind : prices.machines)
      if (kind.has.has(needs)) offer(i, kind.name, kind.price);
  }
  return best;
}

}  // namespace penstock
