// The parts of the module penstock._core, and what they share.
#pragma once

#include <nanobind/nanobind.h>

#include <functional>
#include <string>
#include <vector>

#include "penstock/penstock.h"

namespace nb = nanobind;

namespace penstock::python {

void bind_errors(nb::module_& m);
// Makes the C++ exception in flight Python's: for functions that Python calls without nanobind.
void set_python_error() noexcept;
void bind_calls(nb::module_& m);
void bind_values(nb::module_& m);
void bind_arrays(nb::module_& m);
void bind_dataset(nb::module_& m);
void bind_iterator(nb::module_& m);
void bind_reports(nb::module_& m);
void bind_sources(nb::module_& m);
void bind_columns(nb::module_& m);

// Lets other Python threads run while `f`, which must not touch a Python object, does.
template <typename F>
auto without_gil(const F& f) {
  const nb::gil_scoped_release release;
  return f();
}

// Makes Python values of the elements of one dataset: numbers of rank 0 become NumPy scalars,
// strings bytes, tensors read-only NumPy arrays over the element's own memory. Holds what elements
// share, so that one call does little. With the GIL.
class ToPython {
 public:
  // `codes`: what nested datasets are to own; outlives this.
  ToPython(const ElementSpec& spec, nb::handle codes);
  nb::object operator()(const Element& element) const;

 private:
  ElementSpec::Kind kind_;
  nb::handle codes_;
  std::vector<nb::object> keys_;  // dict
  std::vector<ToPython> parts_;   // tuple, dict
};

// NumPy's class of the scalars of a type; NumPy is loaded when the first one is asked for.
nb::handle scalar_class(Type type);
// A NumPy scalar, bytes, or an array.
nb::object to_python(const Array& array);
// Throws INVALID_ARGUMENT for a name of no dtype.
Type type_named(const std::string& name);
// Has the interpreter call f, which must not throw, at its next step, with the GIL. From any
// thread: one of the engine must not wait for the GIL to give up a Python object, for whoever holds
// it may be waiting for that thread.
void at_next_step(std::function<void()> f);

// (text, verdict, JSON) of an explanation.
nb::tuple explained(const job::Trace& trace, const job::Setting& setting = {});

// A NumPy array over `array`'s memory, which it keeps alive. Strings are copied.
nb::object to_numpy(const Array& array);
// The structure of a spec, with `leaf(kind, dtype, shape, ragged_rank)` for tensors and the like.
nb::object spec_to_python(const ElementSpec& spec, const nb::object& leaf);

}  // namespace penstock::python
