// Python code that gives rows: sources, and ops of a function. The engine calls it from threads of
// its own; each call takes the GIL, and gives it back before the engine goes on.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "code.h"

namespace penstock::python {
namespace {

ArrayType array_type(const nb::handle part) {
  ArrayType out;
  out.type = type_named(nb::cast<std::string>(part[0]));
  out.shape.reset();
  if (const nb::object shape = part[1]; !shape.is_none())
    out.shape = nb::cast<std::vector<int64_t>>(shape);
  return out;
}

std::vector<ArrayType> array_types(const nb::list& parts) {
  std::vector<ArrayType> out;
  for (const nb::handle part : parts) out.push_back(array_type(part));
  return out;
}

// Numbers and strings as they come most often; else nothing.
std::optional<Array> plain_scalar(PyObject* x, Type type) {
  if (type == Type::bytes && PyBytes_Check(x)) {
    return Array::text({PyBytes_AsString(x), static_cast<size_t>(PyBytes_Size(x))});
  }
  if (type == Type::int64 && PyLong_CheckExact(x)) {
    int overflow = 0;
    const int64_t value = PyLong_AsLongLongAndOverflow(x, &overflow);
    if (overflow == 0) return Array::scalar(value);
  }
  if (type == Type::float32 && PyFloat_CheckExact(x))
    return Array::scalar(static_cast<float>(PyFloat_AsDouble(x)));
  if (type == Type::float64 && PyFloat_Check(x)) return Array::scalar(PyFloat_AsDouble(x));
  if (type == Type::boolean && PyBool_Check(x)) return Array::scalar(x == Py_True);
  const auto is_numpys = [&] {
    return reinterpret_cast<PyObject*>(Py_TYPE(x)) == scalar_class(type).ptr();
  };
  if (type == Type::int64 && is_numpys())
    return Array::scalar(
        static_cast<int64_t>(PyLong_AsLongLong(nb::steal(PyNumber_Index(x)).ptr())));
  if (type == Type::float32 && is_numpys())
    return Array::scalar(static_cast<float>(PyFloat_AsDouble(nb::steal(PyNumber_Float(x)).ptr())));
  return {};
}

// `alone`: nobody else holds x, so that its memory may be kept as it is.
Array to_array(PyObject* x, Type type, bool alone) {
  if (std::optional<Array> out = plain_scalar(x, type)) return *std::move(out);
  if (const Array* out = nullptr; nb::try_cast(nb::handle(x), out) && out) {
    if (out->type() == type) return *out;
    throw Error(Code::invalid_argument, "expected " + std::string(type_name(type)) + ": " +
                                            std::string(type_name(out->type())));
  }
  static auto* convert = new nb::object(nb::module_::import_("penstock._arrays").attr("converted"));
  const std::string_view name = type_name(type);
  return nb::cast<Array>((*convert)(nb::handle(x), nb::str(name.data(), name.size()), alone));
}

std::vector<Array> to_row(nb::object value, const std::vector<ArrayType>& parts) {
  std::vector<Array> out;
  if (parts.size() == 1) {
    out.push_back(to_array(value.ptr(), parts[0].type, Py_REFCNT(value.ptr()) == 1));
    return out;
  }
  const nb::list leaves = nb::cast<nb::list>(value);
  for (size_t i = 0; i < parts.size(); ++i) {
    const nb::object leaf = leaves[i];
    out.push_back(to_array(leaf.ptr(), parts[i].type, Py_REFCNT(leaf.ptr()) == 2));
  }
  return out;
}

Code code_named(const std::string& name) {
  for (int i = 0; i <= static_cast<int>(Code::data_loss); ++i) {
    if (code_name(static_cast<Code>(i)) == name) return static_cast<Code>(i);
  }
  return Code::unknown;
}

// The exception of a Python call, as an error of the row. Python's own comes back in what `next`
// raises, as its cause. Ctrl-C is left for the interpreter to raise again.
[[noreturn]] void rethrow(const nb::python_error& thrown) {
  const nb::object told = nb::module_::import_("penstock._errors")
                              .attr("row_error")(thrown.value(), thrown.traceback());
  Error error(code_named(nb::cast<std::string>(told[0])), nb::cast<std::string>(told[1]));
  if (thrown.matches(PyExc_KeyboardInterrupt)) PyErr_SetInterrupt();
  throw error;
}

template <typename F>
auto with_gil(const F& f) {
  LockClock clock;
  const nb::gil_scoped_acquire gil;
  clock.held();
  try {
    return f();
  } catch (const nb::python_error& e) {
    rethrow(e);
  }
}

// `open` gives an iterator over rows: values of one part, lists of values of several.
Dataset generator(const nb::list& parts, const std::vector<std::string>& keys, const PyCode& open,
                  const std::string& identity) {
  const ElementType element{array_types(parts), keys};
  const auto begin = [code = open.shared(), element]() -> RowSource {
    return with_gil([&]() -> RowSource {
      const auto rows = std::make_shared<const OpenedIterator>(code, code->callable()());
      return [rows, element](std::vector<Array>* row) {
        return with_gil([&] {
          PyObject* next = PyIter_Next(rows->get().ptr());
          if (!next && PyErr_Occurred()) throw nb::python_error();
          if (next) *row = to_row(nb::steal(next), element.parts);
          return next != nullptr;
        });
      };
    });
  };
  return Dataset::generator(element, begin, identity);
}

OwnOp own_op(const std::string& name, int inputs, const nb::list& parts, const PyCode& function,
             const std::string& identity) {
  OpDefinition op;
  op.name = name;
  op.doc = "a function of Python";
  for (int i = 0; i < inputs; ++i) op.inputs.push_back("x" + std::to_string(i));
  op.infer = [types = array_types(parts)](std::span<const ArrayType>, const Arguments&) {
    return types;
  };
  op.row = [types = array_types(parts), code = function.shared()](std::span<const Array> x,
                                                                  const Arguments&) {
    return with_gil([&] {
      nb::list arguments;
      for (const Array& array : x) arguments.append(to_python(array));
      return to_row(code->callable()(*arguments), types);
    });
  };
  op.effect = Effect::stateful;
  op.identity = identity;
  op.nanoseconds = 10'000;
  return OwnOp(std::move(op));
}

}  // namespace

void bind_sources(nb::module_& m) {
  bind_code(m);
  m.def("generator", generator);
  nb::class_<OwnOp>(m, "OwnOp").def("__call__", [](const OwnOp& op, std::vector<Value> args) {
    return op(std::move(args));
  });
  m.def("own_op", own_op);
}

}  // namespace penstock::python
