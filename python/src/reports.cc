// Explanations and the optimizer.
#include <nanobind/stl/string.h>

#include "bindings.h"

namespace penstock::python {
namespace {

job::Limits limits(double seconds, int64_t elements) {
  job::Limits out;
  out.seconds = seconds;
  if (elements > 0) out.elements = elements;
  return out;
}

nb::tuple explain(const Dataset& ds, double seconds, int64_t elements) {
  return explained(without_gil([&] { return ds.trace(limits(seconds, elements)); }));
}

nb::str trace(const Dataset& ds, double seconds, int64_t elements) {
  return nb::cast<nb::str>(
      nb::cast(without_gil([&] { return ds.trace(limits(seconds, elements)).text(); })));
}

nb::tuple optimize(const Dataset& ds, double trace_seconds, double measure_seconds) {
  job::OptimizeOptions options;
  options.trace_seconds = trace_seconds;
  options.measure_seconds = measure_seconds;
  const Dataset::Optimization found = without_gil([&] { return ds.optimize(options); });
  nb::list changes, notes;
  for (const job::Change& c : found.changes) changes.append(nb::make_tuple(c.text, c.rate));
  for (const std::string& note : found.notes) notes.append(note);
  nb::object measured = nb::none();
  if (found.measured) measured = nb::make_tuple(found.measured->before, found.measured->after);
  return nb::make_tuple(found.dataset, found.rate.value, changes, notes, measured);
}

}  // namespace

nb::tuple explained(const job::Trace& trace) {
  const job::Explanation e = without_gil([&] { return job::explain(trace); });
  return nb::make_tuple(e.text, e.verdict, e.json);
}

void bind_reports(nb::module_& m) {
  m.def("explain", explain);
  m.def("trace", trace);
  m.def("optimize", optimize);
}

}  // namespace penstock::python
