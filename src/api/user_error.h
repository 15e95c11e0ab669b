// Turns exceptions of user code into Errors.
#pragma once

#include <utility>

#include "base/error.h"

namespace penstock {

// The exception in flight. An Error keeps its code but for CANCELLED, which ends runs: unless this
// thread's run is cancelled, that is UNKNOWN, as every other exception is; bad_alloc is
// RESOURCE_EXHAUSTED. Call inside a catch block.
ErrorPtr current_user_error();

// Calls f; what it throws leaves as Error.
template <typename F>
decltype(auto) call_user(F&& f) {
  try {
    return std::forward<F>(f)();
  } catch (...) {
    throw Error(*current_user_error());
  }
}

}  // namespace penstock
