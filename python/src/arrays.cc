// NumPy arrays: out of elements and into sources, without a copy.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <memory>
#include <span>

#include "bindings.h"
#include "numpy_api.h"

namespace penstock::python {
namespace {

// NumPy's characters for types, as the struct module has them. "l", not "q", is the int64 of Linux.
char* buffer_format(Type type) {
  static constexpr const char* kFormats[] = {"?", "B", "H", "I", "L", "b", "h",
                                             "i", "l", "e", "H", "f", "d"};
  return const_cast<char*>(kFormats[static_cast<size_t>(type)]);
}

struct BufferView {
  std::array<Py_ssize_t, 8> shape{}, strides{};
};

// The buffer protocol: whoever asks sees the array's own memory, and keeps the array alive.
int get_buffer(PyObject* self, Py_buffer* view, int flags) {
  if ((flags & PyBUF_WRITABLE) == PyBUF_WRITABLE) {
    PyErr_SetString(PyExc_BufferError, "the memory of an element is not to be written");
    return -1;
  }
  static const double nothing = 0;
  const Array& array = *nb::inst_ptr<Array>(self);
  if (array.type() == Type::bytes) {
    PyErr_SetString(PyExc_BufferError, "strings are not in one buffer");
    view->obj = nullptr;
    return -1;
  }
  auto sizes = std::make_unique<BufferView>();
  const std::span<const int64_t> shape = array.shape();
  const auto item = static_cast<Py_ssize_t>(item_bytes(array.type()));
  Py_ssize_t stride = item;
  for (size_t i = shape.size(); i-- > 0;) {
    sizes->shape[i] = static_cast<Py_ssize_t>(shape[i]);
    sizes->strides[i] = stride;
    stride *= sizes->shape[i];
  }
  view->buf = const_cast<void*>(array.data() ? static_cast<const void*>(array.data()) : &nothing);
  view->obj = self;
  Py_INCREF(self);
  view->len = static_cast<Py_ssize_t>(array.entries()) * item;
  view->itemsize = item;
  view->readonly = 1;
  view->ndim = static_cast<int>(shape.size());
  view->format = buffer_format(array.type());
  view->shape = sizes->shape.data();
  view->strides = sizes->strides.data();
  view->suboffsets = nullptr;
  view->internal = sizes.release();
  return 0;
}

void release_buffer(PyObject*, Py_buffer* view) { delete static_cast<BufferView*>(view->internal); }

nb::object strings(const Array& array) {
  nb::list items;
  for (const std::string_view text : array.texts())
    items.append(nb::bytes(text.data(), text.size()));
  nb::list shape;
  for (const int64_t size : array.shape()) shape.append(size);
  return nb::module_::import_("penstock._arrays").attr("strings")(items, shape);
}

Array shared(const std::string& type, const std::vector<int64_t>& shape, uintptr_t data,
             const nb::object& owner) {
  PyObject* object = owner.ptr();
  Py_INCREF(object);
  return from_memory(type_named(type), shape, reinterpret_cast<const void*>(data),
                     [object] { at_next_step([object] { Py_DECREF(object); }); });
}

// A capsule for from_dlpack of other libraries; whoever takes it names it "used_dltensor".
nb::object dlpack(const Array& array, const nb::kwargs&) {
  DlManagedTensor* const tensor = to_dlpack(array);
  const auto release = [](PyObject* capsule) {
    void* left = PyCapsule_IsValid(capsule, "dltensor") ? PyCapsule_GetPointer(capsule, "dltensor")
                                                        : nullptr;
    if (left) static_cast<DlManagedTensor*>(left)->deleter(static_cast<DlManagedTensor*>(left));
  };
  return nb::steal(PyCapsule_New(tensor, "dltensor", release));
}

}  // namespace

Type type_named(const std::string& name) {
  for (int i = 0; i <= static_cast<int>(Type::bytes); ++i) {
    if (type_name(static_cast<Type>(i)) == name) return static_cast<Type>(i);
  }
  throw Error(Code::invalid_argument,
              "an array of dtype " + name + " is nothing that elements hold");
}

nb::object to_numpy(const Array& array) {
  if (array.type() == Type::bytes) return strings(array);
  nb::object out = NumpyApi::get().view(array, nb::cast(array));
  if (array.type() == Type::bfloat16)
    return nb::module_::import_("penstock._arrays").attr("bfloat16")(out);
  return out;
}

void bind_arrays(nb::module_& m) {
  static PyType_Slot slots[] = {{Py_bf_getbuffer, reinterpret_cast<void*>(get_buffer)},
                                {Py_bf_releasebuffer, reinterpret_cast<void*>(release_buffer)},
                                {0, nullptr}};
  nb::class_<Array>(m, "Array", nb::type_slots(slots))
      .def("__dlpack__", dlpack)
      .def("__dlpack_device__", [](const Array&) { return nb::make_tuple(1, 0); });
  m.def("share", shared);
  m.def("texts", [](const std::vector<nb::bytes>& items, const std::vector<int64_t>& shape) {
    std::vector<std::string> texts;
    for (const nb::bytes& item : items) texts.emplace_back(item.c_str(), item.size());
    return Array::texts(texts, shape);
  });
}

}  // namespace penstock::python
