#include "numpy_api.h"

#include <algorithm>
#include <array>
#include <utility>

namespace nb = nanobind;

namespace penstock::python {
namespace {

// Slots of the table _ARRAY_API (numpy/_core/code_generators/numpy_api.py), and flags of arrays.
enum Slot : uint8_t { kArrayType = 2, kDescrFromType = 45, kScalar = 60, kNewFromDescr = 94 };
constexpr int kSetBaseObject = 282;
constexpr int kContiguous = 0x0001, kAligned = 0x0100;

nb::object table_owner() {
  try {
    return nb::module_::import_("numpy._core._multiarray_umath");
  } catch (const nb::python_error&) {  // NumPy 1.x has it elsewhere
    return nb::module_::import_("numpy.core._multiarray_umath");
  }
}

nb::object checked(PyObject* made) {
  if (!made) throw nb::python_error();
  return nb::steal(made);
}

}  // namespace

NumpyApi::NumpyApi() {
  const nb::object capsule = table_owner().attr("_ARRAY_API");
  void** const table = static_cast<void**>(PyCapsule_GetPointer(capsule.ptr(), nullptr));
  if (!table) throw nb::python_error();
  array_type_ = static_cast<PyTypeObject*>(table[kArrayType]);
  descr_from_type_ = reinterpret_cast<decltype(descr_from_type_)>(table[kDescrFromType]);
  scalar_ = reinterpret_cast<decltype(scalar_)>(table[kScalar]);
  new_from_descr_ = reinterpret_cast<decltype(new_from_descr_)>(table[kNewFromDescr]);
  set_base_object_ = reinterpret_cast<decltype(set_base_object_)>(table[kSetBaseObject]);
}

const NumpyApi& NumpyApi::get() {
  // Not initialized by the declaration: importing NumPy lets other threads take the GIL, and those
  // would wait for the initialization with it.
  static const NumpyApi* api = nullptr;
  if (!api) api = new NumpyApi;
  return *api;
}

int NumpyApi::number(Type type) {
  // bool, uint8, uint16, uint32, uint64 (NPY_ULONG), int8, int16, int32, int64 (NPY_LONG), float16,
  // bfloat16 as uint16, float32, float64.
  static constexpr std::array kNumbers{0, 2, 4, 6, 8, 1, 3, 5, 7, 23, 4, 11, 12};
  return kNumbers.at(static_cast<size_t>(type));
}

nb::object NumpyApi::scalar(const Array& array) const {
  const nb::object descr = checked(dtype(array.type()));
  return checked(scalar_(const_cast<std::byte*>(array.data()), descr.ptr(), nullptr));
}

nb::object NumpyApi::view(const Array& array, nb::object owner) const {
  alignas(16) static std::array<std::byte, 16> nothing{};
  const auto shape = array.shape();
  std::array<Py_ssize_t, 8> sizes{};
  std::copy(shape.begin(), shape.end(), sizes.begin());
  void* const data = array.data() ? const_cast<std::byte*>(array.data()) : nothing.data();
  const bool aligned = reinterpret_cast<uintptr_t>(data) % item_bytes(array.type()) == 0;
  const nb::object out = checked(new_from_descr_(
      array_type_, checked(dtype(array.type())).release().ptr(), static_cast<int>(shape.size()),
      sizes.data(), nullptr, data, kContiguous | (aligned ? kAligned : 0), nullptr));
  // Takes over the reference to the owner, also when it fails.
  if (set_base_object_(out.ptr(), owner.release().ptr()) != 0) throw nb::python_error();
  return out;
}

size_t item_bytes(Type type) {
  static constexpr std::array<size_t, 13> kBytes{1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 2, 4, 8};
  return kBytes.at(static_cast<size_t>(type));
}

}  // namespace penstock::python
