// Expressions, and functions recorded by calling Python once.
#include <nanobind/stl/function.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings.h"

namespace penstock::python {
namespace {

Value binary(const std::string& op, const Value& a, const Value& b) {
  if (op == "+") return a + b;
  if (op == "-") return a - b;
  if (op == "*") return a * b;
  if (op == "/") return a / b;
  if (op == "//") return floor_divide(a, b);
  if (op == "%") return a % b;
  if (op == "**") return power(a, b);
  if (op == "==") return a == b;
  if (op == "!=") return a != b;
  if (op == "<") return a < b;
  if (op == "<=") return a <= b;
  if (op == ">") return a > b;
  if (op == "and") return a && b;
  if (op == "or") return a || b;
  return a >= b;
}

AxisIndex slice_of(std::optional<Value> begin, std::optional<Value> end,
                   std::optional<Value> step) {
  return {AxisIndex::Kind::slice, {}, std::move(begin), std::move(end), std::move(step)};
}

Value integer(const nb::int_& value) {
  int overflow = 0;
  const long long narrow = PyLong_AsLongLongAndOverflow(value.ptr(), &overflow);
  if (overflow == 0) return {static_cast<int64_t>(narrow)};
  const unsigned long long wide = PyLong_AsUnsignedLongLong(value.ptr());
  if (PyErr_Occurred()) throw nb::python_error();
  return {static_cast<uint64_t>(wide)};
}

}  // namespace

void bind_values(nb::module_& m) {
  nb::class_<Value>(m, "Value");
  nb::class_<AxisIndex>(m, "AxisIndex");
  m.def("integer", integer);
  m.def("boolean", [](bool value) { return Value(value); });
  m.def("floating", [](double value) { return Value(value); });
  m.def("text",
        [](const nb::bytes& value) { return Value(std::string(value.c_str(), value.size())); });
  m.def("none", &none);
  m.def("automatic", &automatic);
  m.def("name", &name);
  m.def("list", &list);
  m.def("tuple", &tuple);
  m.def("dict", &dict);
  m.def("call", &call);
  m.def("cond", &cond);
  m.def("binary", binary);
  m.def("negative", [](const Value& x) { return -x; });
  m.def("logical_not", [](const Value& x) { return !x; });
  m.def("field", [](const Value& x, const Value& key) { return x[key]; });
  m.def("index",
        [](Value i) { return AxisIndex{AxisIndex::Kind::index, std::move(i), {}, {}, {}}; });
  m.def("slice", slice_of, nb::arg().none(), nb::arg().none(), nb::arg().none());
  m.def("ellipsis", [] { return AxisIndex{AxisIndex::Kind::ellipsis, {}, {}, {}, {}}; });
  m.def("new_axis", [] { return AxisIndex{AxisIndex::Kind::new_axis, {}, {}, {}, {}}; });
  m.def("subscript", &subscript);
  m.def("expression", [](const std::string& text) { return UserFunction(text).value(); });
  m.def("record", [](int arity, const std::function<Value(const std::vector<Value>&)>& body) {
    return UserFunction::record(arity, body).value();
  });
}

}  // namespace penstock::python
