// Datasets: built from calls, arrays and text; what they are; runs that end in a value.
#include <nanobind/stl/map.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings.h"

namespace penstock::python {
namespace {

Dataset configured(const Dataset& ds, int threads, int64_t memory_bytes, int64_t block_rows,
                   bool optimize, bool latency, bool checkpoints, uint64_t seed, bool tune) {
  return ds.with_options(
      {threads, memory_bytes, block_rows, optimize, latency, checkpoints, seed, tune});
}

nb::object value(const Dataset& ds, const nb::object& codes) {
  const Element element = without_gil([&] { return ds.value(); });
  return ToPython(element.spec(), codes)(element);
}

nb::tuple options(const Dataset& ds) {
  const Options& o = ds.options();
  return nb::make_tuple(o.threads, o.memory_bytes, o.block_rows, o.optimize, o.latency,
                        o.checkpoints, o.seed, o.tune);
}

}  // namespace

void bind_dataset(nb::module_& m) {
  nb::class_<Dataset>(m, "Dataset")
      .def("text", &Dataset::text)
      .def("spec_text", [](const Dataset& ds) { return ds.element_spec().text(); })
      .def("spec", [](const Dataset& ds,
                      const nb::object& leaf) { return spec_to_python(ds.element_spec(), leaf); })
      .def("cardinality", &Dataset::cardinality)
      .def("apply", &Dataset::apply)
      .def("optimized", &Dataset::optimized)
      .def("options", options)
      .def("configured", configured)
      .def("value", value);
  m.def("combine", &Dataset::combine);
  m.def("input", &Dataset::input);
  m.def("slices", [](const Array& array) { return Dataset::from_tensor_slices(array); });
  m.def("slices_of_dict", [](const std::vector<std::pair<std::string, Array>>& columns) {
    return Dataset::from_tensor_slices(columns);
  });
  m.def("slices_of_tuple",
        [](const std::vector<Array>& columns) { return Dataset::from_tensor_slices(columns); });
  m.def("parse", &Dataset::parse);
  m.def("read", &Dataset::read);
}

}  // namespace penstock::python
