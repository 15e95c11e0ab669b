// Errors inside the library: the public type is in penstock/error.h.
//
// Throw Error for what ends the run or fails a row; return values tell what is expected (end, no
// match). CHECK stands for our own bugs and stays on in release builds.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "penstock/error.h"

namespace penstock {

using ErrorPtr = std::shared_ptr<const Error>;

// The error in flight as a value; a foreign exception becomes INTERNAL (or RESOURCE_EXHAUSTED for
// bad_alloc). Call inside a catch block.
ErrorPtr current_error();

// The error of errno, with the code that fits: "open: data.tfrecord: No such file or directory".
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
