#include "penstock/calls.h"

#include <utility>

#include "job/known_calls.h"

namespace penstock {

std::vector<CallInfo> calls() {
  std::vector<CallInfo> out;
  for (KnownCall& call : known_calls()) {
    const bool op = call.kind == CallInfo::Kind::op;
    out.push_back({std::move(call.name), call.kind, op ? std::move(call.group) : std::string(),
                   std::move(call.doc), std::move(call.parameters)});
  }
  return out;
}

}  // namespace penstock
