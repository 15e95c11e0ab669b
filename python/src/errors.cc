// Error becomes the exception of its code in penstock._errors, which is a kind of Python's own.
#include <nanobind/stl/string.h>

#include "bindings.h"

namespace penstock::python {
namespace {

void translate(const std::exception_ptr& thrown, void*) {
  try {
    std::rethrow_exception(thrown);
  } catch (const Error& e) {
    const std::string_view code = code_name(e.code());
    try {
      const nb::object made =
          nb::module_::import_("penstock._errors")
              .attr("make")(nb::str(code.data(), code.size()), e.message(), e.node());
      PyErr_SetObject(made.type().ptr(), made.ptr());
    } catch (nb::python_error& wrong) {
      wrong.restore();
    }
  }
}

}  // namespace

void bind_errors(nb::module_&) { nb::register_exception_translator(translate); }

}  // namespace penstock::python
