// Reading the JSON form: plans and functions hold each other. json_form.h is the way in.
#pragma once

#include <string>

#include "plan/json_parts.h"
#include "plan/node.h"

namespace penstock::json_form {

PlanPtr read_plan(const In& in, const EnvironmentTypes& environment, const Where& where);
FunctionPtr read_function(const In& in, const EnvironmentTypes& environment, const Where& where);

// True when everything of type `inside` may be used as `outside`.
bool fits(const Spec& inside, const Spec& outside);

// What infer throws, as an error that says where.
template <typename F>
auto checked(const Where& where, const F& f) {
  try {
    return f();
  } catch (const ArgumentError& e) {
    where.fail((e.param.empty() ? "" : e.param + ": ") + e.message);
  } catch (const TypeError& e) {
    const std::string subject = e.input >= 0     ? "input " + std::to_string(e.input) + ": "
                                : e.attr.empty() ? ""
                                                 : e.attr + ": ";
    where.fail(subject + e.message);
  } catch (const Error& e) {
    if (e.message().starts_with("plan")) throw;  // said where already
    where.fail(e.message());
  }
}

}  // namespace penstock::json_form
