#include "runtime/stack.h"

#include <pthread.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/error.h"

namespace penstock {
namespace {

// Between `end`, its lowest address, and `enough` the stack is short. Outside of it nothing is
// known: somebody may run us on a stack of his own.
struct Bounds {
  uintptr_t end = 0, enough = 0;
};

Bounds find_bounds() {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return {};
  void* address = nullptr;
  size_t size = 0;
  Bounds out;
  if (pthread_attr_getstack(&attributes, &address, &size) == 0) {
    // For what the innermost stage does: functions, decoders, an error on its way out.
    constexpr size_t kMostReserved = 1 << 20;
    out.end = reinterpret_cast<uintptr_t>(address);
    out.enough = out.end + std::min(size / 4, kMostReserved);
  }
  pthread_attr_destroy(&attributes);
  return out;
}

}  // namespace

void check_depth(int depth) {
  if (depth < kMostStages && !stack_is_short()) return;
  throw Error(Code::resource_exhausted,
              "more than " + std::to_string(depth) +
                  " stages stand on each other; run the pipeline in parts, or let neighbouring "
                  "maps and filters do more, which count as one");
}

bool stack_is_short() {
  static thread_local const Bounds bounds = find_bounds();
  const auto here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  return here < bounds.enough && here >= bounds.end;
}

}  // namespace penstock
