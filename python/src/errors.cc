// Error becomes the exception of its code in penstock._errors, which is a kind of Python's own.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <exception>
#include <new>

#include "bindings.h"

namespace penstock::python {
namespace {

void translate(const std::exception_ptr& thrown, void*) {
  try {
    std::rethrow_exception(thrown);
  } catch (const Error& e) {
    const std::string_view code = code_name(e.code());
    try {
      const ErrorOrigin origin = error_origin(e);
      const nb::object file = origin.file.empty() ? nb::none() : nb::cast(origin.file);
      const nb::object made = nb::module_::import_("penstock._errors")
                                  .attr("make")(nb::str(code.data(), code.size()), e.message(),
                                                e.node(), file, origin.offset, origin.record);
      PyErr_SetObject(made.type().ptr(), made.ptr());
    } catch (nb::python_error& wrong) {
      wrong.restore();
    }
  }
}

}  // namespace

void set_python_error() noexcept {
  try {
    throw;
  } catch (nb::python_error& e) {
    e.restore();
  } catch (const Error&) {
    translate(std::current_exception(), nullptr);
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::exception& e) {
    PyErr_SetString(PyExc_RuntimeError, e.what());
  }
}

void bind_errors(nb::module_&) { nb::register_exception_translator(translate); }

}  // namespace penstock::python
