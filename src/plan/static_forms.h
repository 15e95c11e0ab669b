// Calls that stand for constants which ops read when they are opened: tables and models from files.
// While a plan is built they are dicts: {is: "vocabulary", file: ..., ...}, only what was given.
#pragma once

#include <string_view>
#include <vector>

#include "functions/attr.h"

namespace penstock {

struct StaticForm {
  std::string_view name;
  std::vector<Param> params;
};

// Null when there is none of that name.
const StaticForm* find_static_form(std::string_view name);

// The form that a dict stands for; null when it is another one.
const StaticForm* static_form_of(const Attr& attr);

}  // namespace penstock
