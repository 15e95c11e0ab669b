// Every operator and op that a pipeline may call.
#pragma once

#include <string>
#include <vector>

#include "penstock/calls.h"

namespace penstock {

struct KnownCall {
  std::string name, group, signature, doc, effects;
  bool can_fail = false, elementwise = false;
  CallInfo::Kind kind = CallInfo::Kind::op;
  std::vector<CallParameter> parameters{};
};

// Operators first, then ops, with the plain names of those that have one ("sum").
std::vector<KnownCall> known_calls();

// Returns the message for a name that is none of them, with a hint where one is near.
std::string unknown_call(const std::string& name);

}  // namespace penstock
