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
  bool is_table = false;       // of keys and values, checked where it is written
  bool takes_dataset = false;  // as its first argument, in place of keys and values
};

// Null when there is none of that name.
const StaticForm* find_static_form(std::string_view name);

// The form that a dict stands for; null when it is another one.
const StaticForm* static_form_of(const Attr& attr);

}  // namespace penstock
