// The locale of numbers in data.
#pragma once

#include <locale.h>

namespace penstock {

// Any locale may be set in the process; numbers in data are written in C's.
inline locale_t c_locale() {
  static const locale_t locale = newlocale(LC_ALL_MASK, "C", nullptr);
  return locale;
}

}  // namespace penstock
