#include "report/provision_report.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "report/table.h"

namespace penstock {
namespace {

std::string label_of(const Analysis& a, int stage) {
  return a.stages[static_cast<size_t>(stage)].label;
}

std::string interval(const Estimate& e) {
  return e.has_interval() ? " (" + human_cores(e.low) + " to " + human_cores(e.high) + ")" : "";
}

std::string way_of(const Analysis& a, const ProvisionOption& option) {
  if (option.cached.empty()) return "without a cache";
  std::string out = "cache after ";
  for (const int stage : option.cached)
    out += (stage == option.cached.front() ? "" : ", ") + label_of(a, stage);
  return out;
}

std::string storage(double bytes_per_second) { return human_bytes(bytes_per_second) + "/s"; }

std::string needs_text(const Analysis& a, const ProvisionOption& option) {
  const Needs& n = option.needs;
  std::string out = human_cores(n.cores) + " cores" + interval(option.cores);
  if (n.disk_bytes_per_second > 0) out += ", " + storage(n.disk_bytes_per_second) + " of storage";
  return out + " and " + human_bytes(n.memory_bytes) + " of memory, " + way_of(a, option);
}

// The reason for which the rate is not reached.
std::string refusal(const Analysis& a, const ProvisionAnswer& answer) {
  const Reachable& there = answer.there;
  const std::string most = human_rate(there.rate);
  switch (there.binds) {
    case Reachable::Binds::stage:
      return "no machine reaches it: " + label_of(a, there.stage) +
             " runs on one thread, which gives " + most + "; no cache may stand above it";
    case Reachable::Binds::cores:
      return "the machine gives " + most + ": its cores bind, one more brings " +
             human_rate(1 / answer.provision.per_element.cores);
    case Reachable::Binds::disk:
      return "the machine gives " + most + ": its storage binds, one MB/s more brings " +
             human_rate(1e6 / answer.provision.per_element.disk_bytes_per_second);
    case Reachable::Binds::memory:
      return "the machine has less memory than the run took: " +
             human_bytes(static_cast<double>(a.trace.peak_memory_bytes));
    case Reachable::Binds::nothing: break;
  }
  return "the machine has less memory than the rate needs";
}

std::string purchase_text(const Analysis& a, const ProvisionQuestion& q, const ProvisionAnswer& r) {
  if (!r.purchase) return "cheapest: no machine of the list reaches the rate";
  const std::string currency = q.prices->currency.empty() ? "" : " " + q.prices->currency;
  return "cheapest: " + (r.purchase->machine.empty() ? "" : r.purchase->machine + ", ") +
         human_number(r.purchase->price) + currency + " an hour, " +
         way_of(a, r.provision.options[r.purchase->option]);
}

std::string next_limit(const Analysis& a, const ProvisionOption& option) {
  if (option.slowest < 0 || std::isinf(option.most_rate)) return "";
  return "next limit: " + label_of(a, option.slowest) + " runs on one thread, which gives " +
         human_rate(option.most_rate);
}

}  // namespace

ProvisionAnswer answer_provision(const Analysis& analysis, const ProvisionQuestion& question) {
  ProvisionAnswer out;
  out.provision = provision(analysis, question.rate);
  const std::vector<ProvisionOption>& options = out.provision.options;
  const auto fits = std::ranges::find_if(
      options, [&](const ProvisionOption& o) { return question.machine.has(o.needs); });
  if (fits != options.end()) out.fits = static_cast<size_t>(fits - options.begin());
  out.there = reachable_rate(analysis, question.machine);
  if (question.prices) out.purchase = cheapest(out.provision, *question.prices, question.machine);
  return out;
}

std::string provision_text(const Analysis& a, const ProvisionQuestion& q,
                           const ProvisionAnswer& r) {
  std::string out;
  const auto line = [&out](const std::string& text) {
    if (!text.empty()) out += wrapped(text, 80, 2) + "\n";
  };
  const std::string rate = human_rate(q.rate);
  if (r.fits) {
    line(rate + " needs " + needs_text(a, r.provision.options[*r.fits]));
  } else {
    line(rate + " is not reached: " + refusal(a, r));
  }
  if (!r.provision.options.empty()) {
    out += "\n";
    TextTable table({{"", TextTable::Align::left, 40}, {"cores"}, {"storage"}, {"memory"}});
    for (const ProvisionOption& o : r.provision.options)
      table.add_row({way_of(a, o), human_cores(o.needs.cores),
                     storage(o.needs.disk_bytes_per_second), human_bytes(o.needs.memory_bytes)});
    out += table.text() + "\n";
  }
  if (r.provision.uncached.most_rate < q.rate && !r.provision.options.empty())
    line("without a cache no machine reaches it: " + label_of(a, r.provision.uncached.slowest) +
         " runs on one thread, which gives " + human_rate(r.provision.uncached.most_rate));
  const Needs& one = r.provision.per_element;
  line("one element per second more takes " + human_number(one.cores) + " cores" +
       (one.disk_bytes_per_second > 0 ? " and " + storage(one.disk_bytes_per_second) + " of storage"
                                      : ""));
  if (r.fits) line(next_limit(a, r.provision.options[*r.fits]));
  if (q.prices) line(purchase_text(a, q, r));
  const bool caches =
      std::ranges::any_of(r.provision.options, [](const auto& o) { return !o.cached.empty(); });
  if (caches) line("a cache counts from the second pass over the data on");
  line("memory is the peak of the traced run, in proportion to cores that it did not have" +
       std::string(caches ? ", and the caches" : ""));
  return out;
}

namespace {

Json finite(double value) { return std::isinf(value) ? Json() : Json(value); }

Json option_json(const Analysis& a, const ProvisionOption& o) {
  Json cached = Json::array();
  for (const int stage : o.cached) cached.push_back(label_of(a, stage));
  const auto known = [&](double bound) { return o.cores.has_interval() ? Json(bound) : Json(); };
  return {{"cached", cached},
          {"cores",
           {{"low", known(o.cores.low)}, {"value", o.needs.cores}, {"high", known(o.cores.high)}}},
          {"disk_bytes_per_second", o.needs.disk_bytes_per_second},
          {"memory_bytes", std::llround(o.needs.memory_bytes)},
          {"cache_bytes", std::llround(o.cache_bytes)},
          {"most_rate", finite(o.most_rate)},
          {"slowest", o.slowest < 0 ? Json() : Json(label_of(a, o.slowest))}};
}

std::string_view binds_name(Reachable::Binds binds) {
  switch (binds) {
    case Reachable::Binds::cores: return "cores";
    case Reachable::Binds::disk: return "disk";
    case Reachable::Binds::memory: return "memory";
    case Reachable::Binds::stage: return "stage";
    case Reachable::Binds::nothing: break;
  }
  return "nothing";
}

}  // namespace

Json provision_json(const Analysis& a, const ProvisionQuestion& q, const ProvisionAnswer& r) {
  Json options = Json::array();
  for (const ProvisionOption& o : r.provision.options) options.push_back(option_json(a, o));
  Json purchase;
  if (r.purchase) {
    purchase = {{"option", r.purchase->option},
                {"machine", r.purchase->machine.empty() ? Json() : Json(r.purchase->machine)},
                {"price", r.purchase->price},
                {"currency", q.prices->currency}};
  }
  return {
      {"rate", q.rate},
      {"reached", r.is_reached()},
      {"fits", r.fits ? Json(*r.fits) : Json()},
      {"options", options},
      {"uncached", option_json(a, r.provision.uncached)},
      {"per_element",
       {{"cores", r.provision.per_element.cores},
        {"disk_bytes_per_second", r.provision.per_element.disk_bytes_per_second}}},
      {"machine",
       {{"cores", finite(q.machine.cores)},
        {"disk_bytes_per_second", finite(q.machine.disk_bytes_per_second)},
        {"memory_bytes",
         std::isinf(q.machine.memory_bytes) ? Json() : Json(std::llround(q.machine.memory_bytes))},
        {"rate", finite(r.there.rate)},
        {"binds", binds_name(r.there.binds)},
        {"stage", r.there.stage < 0 ? Json() : Json(label_of(a, r.there.stage))}}},
      {"cheapest", purchase}};
}

}  // namespace penstock
