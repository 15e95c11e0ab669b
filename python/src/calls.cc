// The table of all operators and ops: what the package makes its functions and methods from.
#include <nanobind/stl/string.h>

#include "bindings.h"

namespace penstock::python {
namespace {

const char* kind_name(CallInfo::Kind kind) {
  switch (kind) {
    case CallInfo::Kind::source: return "source";
    case CallInfo::Kind::stage: return "stage";
    case CallInfo::Kind::sink: return "sink";
    case CallInfo::Kind::op: break;
  }
  return "op";
}

const char* kind_name(CallParameter::Kind kind) {
  switch (kind) {
    case CallParameter::Kind::constant: return "constant";
    case CallParameter::Kind::tensor: return "tensor";
    case CallParameter::Kind::tensors: return "tensors";
    case CallParameter::Kind::dataset: return "dataset";
    case CallParameter::Kind::datasets: return "datasets";
    case CallParameter::Kind::function: break;
  }
  return "function";
}

// Tuples, which cost less than classes: (name, kind, group, doc, parameters), a parameter
// (name, kind, required, by name only, default as text).
nb::list calls_list() {
  nb::list out;
  for (const CallInfo& call : calls()) {
    nb::list parameters;
    for (const CallParameter& p : call.parameters) {
      parameters.append(
          nb::make_tuple(p.name, kind_name(p.kind), p.required, p.by_name_only, p.fallback));
    }
    out.append(nb::make_tuple(call.name, kind_name(call.kind), call.group, call.doc, parameters));
  }
  return out;
}

}  // namespace

void bind_calls(nb::module_& m) {
  m.def("calls", calls_list);
  nb::list types;
  for (int i = 0; i <= static_cast<int>(Type::bytes); ++i) {
    const std::string_view name = type_name(static_cast<Type>(i));
    types.append(nb::str(name.data(), name.size()));
  }
  m.attr("types") = types;
  m.attr("version") = PENSTOCK_VERSION;
}

}  // namespace penstock::python
