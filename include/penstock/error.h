// What goes wrong: one exception type with a canonical code.
#pragma once

#include <cstdint>
#include <exception>
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

}  // namespace penstock
