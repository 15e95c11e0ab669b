#include "base/error.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <stdexcept>

#include "base/origin_text.h"

namespace penstock {

std::string_view code_name(Code code) {
  switch (code) {
    case Code::cancelled: return "CANCELLED";
    case Code::unknown: return "UNKNOWN";
    case Code::invalid_argument: return "INVALID_ARGUMENT";
    case Code::not_found: return "NOT_FOUND";
    case Code::already_exists: return "ALREADY_EXISTS";
    case Code::permission_denied: return "PERMISSION_DENIED";
    case Code::resource_exhausted: return "RESOURCE_EXHAUSTED";
    case Code::failed_precondition: return "FAILED_PRECONDITION";
    case Code::out_of_range: return "OUT_OF_RANGE";
    case Code::unimplemented: return "UNIMPLEMENTED";
    case Code::internal: return "INTERNAL";
    case Code::unavailable: return "UNAVAILABLE";
    case Code::data_loss: return "DATA_LOSS";
  }
  return "UNKNOWN";
}

Error::Error(Code code, std::string message, std::string node)
    : code_(code), message_(std::move(message)), node_(std::move(node)) {
  // The message of an op that has the stage's name already begins with it.
  const bool said = node_.empty() || message_.starts_with(node_ + ": ");
  what_ = said ? message_ : node_ + ": " + message_;
}

Error Error::at(const std::string& node) const {
  return node_.empty() ? Error(code_, message_, node) : *this;
}

ErrorPtr current_error() {
  try {
    throw;
  } catch (const Error& e) {
    return std::make_shared<const Error>(e);
  } catch (const std::bad_alloc&) {
    return std::make_shared<const Error>(Code::resource_exhausted, "out of memory");
  } catch (const std::length_error&) {  // a container larger than the address space
    return std::make_shared<const Error>(Code::resource_exhausted, "a size is too large");
  } catch (const std::exception& e) {
    return std::make_shared<const Error>(Code::internal, e.what());
  } catch (...) {
    return std::make_shared<const Error>(Code::internal, "unknown exception");
  }
}

Error system_error(std::string_view what, std::string_view path, int errno_value) {
  Code code = Code::unknown;
  switch (errno_value) {
    case ENOENT:
    case ENOTDIR: code = Code::not_found; break;
    case EACCES:
    case EPERM:
    case EROFS: code = Code::permission_denied; break;
    case EEXIST: code = Code::already_exists; break;
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
    case EMFILE:
    case ENFILE:
    case ENOMEM: code = Code::resource_exhausted; break;
    case EISDIR: code = Code::failed_precondition; break;
    case EINVAL: code = Code::invalid_argument; break;
    case EIO: code = Code::data_loss; break;
    default: break;
  }
  std::string message(what);
  message.append(": ").append(path_text(path)).append(": ").append(std::strerror(errno_value));
  return Error(code, std::move(message));
}

void check_failed(const char* file, int line, const char* condition) {
  std::fprintf(stderr, "%s:%d: check failed: %s (a bug in Penstock)\n", file, line, condition);
  std::abort();
}

}  // namespace penstock
