#include <cstdint>
namespace {
struct Equal { template <typename T> static bool apply(T a, T b) { return a == b; } };
struct Add { template <typename T> static T apply(T a, T b) { return a + b; } };
template <typename Op, typename T, typename R>
__attribute__((target_clones("arch=x86-64-v4","arch=x86-64-v3","default")))
void run_pair(const T* __restrict a, const T* __restrict b, R* __restrict out, int64_t n) {
    const T right = *b;
    for (int64_t i = 0; i < n; ++i) out[i] = Op::template apply<T>(a[i], right);
}
}
void eq(const int64_t* a, const int64_t* b, bool* o, int64_t n) { run_pair<Equal,int64_t,bool>(a,b,o,n); }
void add(const int64_t* a, const int64_t* b, int64_t* o, int64_t n) { run_pair<Add,int64_t,int64_t>(a,b,o,n); }
