// Which ops and operators are code of the program that uses the library, and what their author
// calls that code: the name of an op says nothing about it.
#pragma once

#include <optional>
#include <string>

#include "plan/node.h"

namespace penstock {

struct UserCode {
  std::string identity;   // unequal for unequal code
  bool portable = false;  // the author gave it; else it holds in this process only
  std::string remedy{};   // how the author gives one
};

// `op` is an OpDef or an OperatorDef that a registry or a plan holds. Thread-safe.
void set_user_code(const void* op, UserCode code);
void forget_user_code(const void* op);  // before another may get its address
std::optional<UserCode> user_code_of(const void* op);

// Says which code of users in the plan has no identity that holds in other processes, and what to
// do; empty if all have one. The second looks at the stage and its functions, not at its inputs.
std::string find_unidentified_code(const PlanNode& root);
std::string find_unidentified_code_of_stage(const PlanNode& stage);

}  // namespace penstock
