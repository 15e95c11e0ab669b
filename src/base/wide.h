// Compiles loops over entries twice: for any x86-64, and for AVX2 and related extensions; the
// loader selects. Results are the same bit for bit: nothing is contracted (-ffp-contract=off) and
// no order of summation changes. There is one version only if clones do not work (sanitizers,
// Clang) or do not pay (debug builds).
#pragma once

#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(NDEBUG) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define PENSTOCK_WIDE __attribute__((target_clones("arch=x86-64-v3", "default")))
#else
#define PENSTOCK_WIDE
#endif
