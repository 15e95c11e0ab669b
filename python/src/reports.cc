// Explanations and the optimizer.
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <tuple>

#include "bindings.h"

namespace penstock::python {
namespace {

job::Limits limits(double seconds, int64_t elements) {
  job::Limits out;
  out.seconds = seconds;
  if (elements > 0) out.elements = elements;
  return out;
}

using Setting = std::tuple<int, int64_t, double, double>;

job::Setting setting(const Setting& given) {
  job::Setting out;
  std::tie(out.cores, out.memory_bytes, out.disk_bytes_per_second, out.consumer_seconds) = given;
  return out;
}

nb::tuple explain(const Dataset& ds, double seconds, int64_t elements, const Setting& given) {
  return explained(without_gil([&] { return ds.trace(limits(seconds, elements)); }),
                   setting(given));
}

nb::tuple explain_trace(const std::string& text, const Setting& given) {
  return explained(without_gil([&] { return job::Trace::parse(text); }), setting(given));
}

nb::str trace(const Dataset& ds, double seconds, int64_t elements) {
  return nb::cast<nb::str>(
      nb::cast(without_gil([&] { return ds.trace(limits(seconds, elements)).text(); })));
}

nb::tuple optimize(const Dataset& ds, double trace_seconds, double measure_seconds, int64_t epochs,
                   const Setting& given) {
  job::OptimizeOptions options;
  options.setting = setting(given);
  options.trace_seconds = trace_seconds;
  options.measure_seconds = measure_seconds;
  if (epochs > 0) {
    options.iterations = epochs;
    options.passes = static_cast<double>(epochs);
  }
  const Dataset::Optimization found = without_gil([&] { return ds.optimize(options); });
  nb::list changes, notes;
  for (const job::Change& c : found.changes) changes.append(nb::make_tuple(c.text, c.rate));
  for (const std::string& note : found.notes) notes.append(note);
  nb::object measured = nb::none();
  if (found.measured) measured = nb::make_tuple(found.measured->before, found.measured->after);
  const auto rates = nb::make_tuple(found.rate.low, found.rate.value, found.rate.high,
                                    found.first_pass_rate, found.later_passes_rate);
  return nb::make_tuple(found.dataset, rates, changes, notes, measured);
}

}  // namespace

nb::tuple explained(const job::Trace& trace, const job::Setting& setting) {
  const job::Explanation e = without_gil([&] { return job::explain(trace, setting); });
  return nb::make_tuple(e.text, e.verdict, e.json);
}

void bind_reports(nb::module_& m) {
  m.def("explain", explain);
  m.def("explain_trace", explain_trace);
  m.def("trace", trace);
  m.def("optimize", optimize);
}

}  // namespace penstock::python
