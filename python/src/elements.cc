// Elements as Python values.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings.h"
#include "numpy_api.h"

namespace penstock::python {
namespace {

nb::object scalar(const Array& array) {
  if (array.type() == Type::bytes) return nb::bytes(array.text().data(), array.text().size());
  if (array.type() == Type::bfloat16) return to_numpy(array)[nb::tuple()];
  return NumpyApi::get().scalar(array);
}

template <typename... Args>
nb::object made_by(const char* name, Args&&... args) {
  return nb::module_::import_("penstock._arrays").attr(name)(std::forward<Args>(args)...);
}

nb::object ragged(const RaggedArray& array) {
  nb::list splits;
  for (const Array& s : array.splits) splits.append(to_numpy(s));
  return made_by("Ragged", to_numpy(array.values), nb::tuple(splits));
}

nb::object sparse(const SparseArray& array) {
  return made_by("Sparse", to_numpy(array.indices), to_numpy(array.values), to_numpy(array.shape));
}

}  // namespace

nb::handle scalar_class(Type type) {
  static auto* classes = new std::vector<nb::object>(static_cast<size_t>(Type::bytes));
  nb::object& out = (*classes)[static_cast<size_t>(type)];
  if (!out) {
    const std::string_view name = type == Type::boolean ? "bool_" : type_name(type);
    out = nb::module_::import_("numpy").attr(std::string(name).c_str());
  }
  return out;
}

nb::object to_python(const Array& array) {
  return array.shape().empty() ? scalar(array) : to_numpy(array);
}

ToPython::ToPython(const ElementSpec& spec, nb::handle codes) : kind_(spec.kind), codes_(codes) {
  for (const std::string& key : spec.keys) {
    PyObject* text = PyUnicode_FromStringAndSize(key.data(), static_cast<Py_ssize_t>(key.size()));
    if (!text) throw nb::python_error();
    PyUnicode_InternInPlace(&text);
    keys_.push_back(nb::steal(text));
  }
  if (kind_ == ElementSpec::Kind::dataset) return;
  for (const ElementSpec& part : spec.parts) parts_.emplace_back(part, codes);
}

nb::object ToPython::operator()(const Element& element) const {
  switch (kind_) {
    case ElementSpec::Kind::none: return nb::none();
    case ElementSpec::Kind::tensor: return to_python(element.array());
    case ElementSpec::Kind::ragged: return ragged(element.ragged());
    case ElementSpec::Kind::sparse: return sparse(element.sparse());
    case ElementSpec::Kind::optional:
      return element.has_value() ? to_python(element.array()) : nb::none();
    case ElementSpec::Kind::dataset: return made_by("dataset", Dataset::nested(element), codes_);
    case ElementSpec::Kind::dict: {
      nb::dict out;
      for (size_t i = 0; i < parts_.size(); ++i) out[keys_[i]] = parts_[i](element[i]);
      return out;
    }
    case ElementSpec::Kind::tuple: break;
  }
  PyObject* out = PyTuple_New(static_cast<Py_ssize_t>(parts_.size()));
  if (!out) throw nb::python_error();
  const nb::object owner = nb::steal(out);
  for (size_t i = 0; i < parts_.size(); ++i) {
    // The tuple owns what it is given.
    PyTuple_SetItem(out, static_cast<Py_ssize_t>(i), parts_[i](element[i]).release().ptr());
  }
  return owner;
}

nb::object spec_to_python(const ElementSpec& spec, const nb::object& leaf) {
  using Kind = ElementSpec::Kind;
  switch (spec.kind) {
    case Kind::none: return nb::none();
    case Kind::dict: {
      nb::dict out;
      for (size_t i = 0; i < spec.parts.size(); ++i)
        out[nb::cast(spec.keys[i])] = spec_to_python(spec.parts[i], leaf);
      return out;
    }
    case Kind::tuple: {
      nb::list out;
      for (const ElementSpec& part : spec.parts) out.append(spec_to_python(part, leaf));
      return nb::tuple(out);
    }
    case Kind::dataset:
      return leaf("dataset", spec_to_python(spec.parts.at(0), leaf), nb::none(), 0);
    case Kind::tensor:
    case Kind::ragged:
    case Kind::sparse:
    case Kind::optional: break;
  }
  const char* kind = spec.kind == Kind::tensor   ? "tensor"
                     : spec.kind == Kind::ragged ? "ragged"
                     : spec.kind == Kind::sparse ? "sparse"
                                                 : "optional";
  nb::object shape = nb::none();
  if (spec.shape) {
    nb::list sizes;
    for (const int64_t size : *spec.shape) sizes.append(size < 0 ? nb::none() : nb::cast(size));
    shape = nb::tuple(sizes);
  }
  return leaf(kind, nb::cast(std::string(type_name(spec.type))), shape, spec.ragged_rank);
}

}  // namespace penstock::python
