// + - * of numbers: integers wrap, without undefined behaviour.
#pragma once

#include <cstdint>
#include <type_traits>

namespace penstock {

// Unsigned, and not narrower than int: arithmetic in it wraps.
template <typename T>
using Wrapping = std::conditional_t<sizeof(T) < 4, uint32_t, std::make_unsigned_t<T>>;

template <typename T, typename F>
T wrapped(T a, T b, F f) {
  if constexpr (std::is_integral_v<T>) {
    using U = Wrapping<T>;
    return static_cast<T>(f(static_cast<U>(a), static_cast<U>(b)));
  } else {
    return f(a, b);
  }
}

template <typename T>
T wrapping_add(T a, T b) {
  return wrapped(a, b, [](auto x, auto y) { return x + y; });
}
template <typename T>
T wrapping_subtract(T a, T b) {
  return wrapped(a, b, [](auto x, auto y) { return x - y; });
}
template <typename T>
T wrapping_multiply(T a, T b) {
  return wrapped(a, b, [](auto x, auto y) { return x * y; });
}

}  // namespace penstock
