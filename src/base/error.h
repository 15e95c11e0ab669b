// Errors inside the library; the public type is in penstock/error.h.
//
// Throw Error if the run ends or a row fails. Use return values for expected outcomes (end, no
// match). CHECK is for our own bugs and stays on in release builds.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "penstock/error.h"

namespace penstock {

using ErrorPtr = std::shared_ptr<const Error>;

// Returns the current exception as a value; a foreign exception becomes INTERNAL (bad_alloc becomes
// RESOURCE_EXHAUSTED). Call it inside a catch block.
ErrorPtr current_error();

// Returns the error of errno with the matching code: "open: data.tfrecord: No such file or
// directory".
Error system_error(std::string_view what, std::string_view path, int errno_value);

[[noreturn]] void check_failed(const char* file, int line, const char* condition);

#define PENSTOCK_CHECK(condition) \
  ((condition) ? void(0) : ::penstock::check_failed(__FILE__, __LINE__, #condition))
#ifdef NDEBUG
#define PENSTOCK_DCHECK(condition) void(0)
#else
#define PENSTOCK_DCHECK(condition) PENSTOCK_CHECK(condition)
#endif

}  // namespace penstock
