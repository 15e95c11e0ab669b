// NumPy's C functions that make arrays and scalars, taken from its table when first needed.
//
// The extension is built without NumPy's headers: the table's slots used here have had the same
// number and signature from NumPy 1.7 to 2.x, and one extension serves all of them.
#pragma once

#include <nanobind/nanobind.h>

#include "penstock/tensor.h"

namespace penstock::python {

// All functions with the GIL. They throw nanobind::python_error if NumPy raises.
class NumpyApi {
 public:
  // Loads NumPy at the first call.
  static const NumpyApi& get();

  // A scalar of the array's one entry. Not for strings and bfloat16.
  nanobind::object scalar(const Array& array) const;
  // A read-only array over the entries, which keeps `owner` alive. `owner` keeps the bytes alive.
  nanobind::object view(const Array& array, nanobind::object owner) const;

 private:
  using Object = PyObject*;
  NumpyApi();
  // Returns a new reference to NumPy's dtype. bfloat16 is that of its bits, uint16.
  Object dtype(Type type) const { return descr_from_type_(number(type)); }
  static int number(Type type);

  PyTypeObject* array_type_;
  Object (*descr_from_type_)(int);
  Object (*scalar_)(void*, Object, Object);
  Object (*new_from_descr_)(PyTypeObject*, Object, int, const Py_ssize_t*, const Py_ssize_t*, void*,
                            int, Object);
  int (*set_base_object_)(Object, Object);
};

size_t item_bytes(Type type);

}  // namespace penstock::python
