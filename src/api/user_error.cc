#include "api/user_error.h"

#include <new>

#include "base/cancellation.h"

namespace penstock {

ErrorPtr current_user_error() {
  try {
    throw;
  } catch (const Error& e) {
    const bool keeps_code = e.code() != Code::cancelled || ScopedCancellation::requested();
    return std::make_shared<const Error>(keeps_code ? e.code() : Code::unknown, e.message(),
                                         e.node());
  } catch (const std::bad_alloc&) {
    return std::make_shared<const Error>(Code::resource_exhausted, "out of memory");
  } catch (const std::exception& e) {
    return std::make_shared<const Error>(Code::unknown, e.what());
  } catch (...) {
    return std::make_shared<const Error>(Code::unknown, "an exception of a type that says nothing");
  }
}

}  // namespace penstock
