// What goes wrong: one exception type with a canonical code.
//
// Throw Error for what ends the run or fails a row; return values tell what is expected (end, no
// match). CHECK stands for our own bugs and stays on in release builds.
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <string_view>

namespace penstock {

enum class Code : uint8_t {
  cancelled,
  unknown,
  invalid_argument,
  not_found,
  already_exists,
  permission_denied,
  resource_exhausted,
  failed_precondition,
  out_of_range,
  unimplemented,
  internal,
  unavailable,
  data_loss,
};

// "INVALID_ARGUMENT" and the like.
std::string_view code_name(Code code);

// `message` reads "who: what: value"; `node` names the stage, empty until the stage border adds it.
class Error : public std::exception {
 public:
  Error(Code code, std::string message, std::string node = {});

  Code code() const { return code_; }
  const std::string& message() const { return message_; }
  const std::string& node() const { return node_; }
  const char* what() const noexcept override { return what_.c_str(); }

  // The same error, said by `node`; an error that names its stage keeps it.
  Error at(const std::string& node) const;

 private:
  Code code_;
  std::string message_;
  std::string node_;
  std::string what_;  // "node: message", or the message alone
};

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
