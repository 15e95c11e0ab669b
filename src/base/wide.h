// Loops over entries that are compiled twice: for any x86-64, and for AVX2 and its neighbours; the
// loader takes what the machine has. The same results, bit for bit: nothing is contracted
// (-ffp-contract=off) and no order of summation changes. Where clones do not work (sanitizers,
// Clang) or do not pay (debug builds) there is one.
#pragma once

#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(NDEBUG) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define PENSTOCK_WIDE __attribute__((target_clones("arch=x86-64-v3", "default")))
#else
#define PENSTOCK_WIDE
#endif
