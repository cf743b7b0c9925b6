/* Which paths this CPU can run. */
#include "ops.h"
#include "detect.h"

#if defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>
#endif

static int have(int path) {
    switch (path) {
    case RK_PATH_PORTABLE: return 1;
#if defined(__x86_64__)
    case RK_PATH_AVX2: return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    case RK_PATH_AVX512:
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
               __builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("fma");
#elif defined(__aarch64__)
    case RK_PATH_NEON: return 1;
    case RK_PATH_SDOT:
#if defined(__APPLE__)
        return 1; /* every Apple CPU of this architecture for computers */
#elif defined(__linux__)
        return (getauxval(AT_HWCAP) >> 20 & 1) != 0; /* HWCAP_ASIMDDP */
#else
        return 0;
#endif
#endif
    default: return 0;
    }
}

int rk_path(int want) {
    static const int best_first[] = {RK_PATH_AVX512, RK_PATH_AVX2, RK_PATH_SDOT, RK_PATH_NEON, RK_PATH_PORTABLE};
    if (want != RK_PATH_AUTO) return have(want) ? want : -1;
    for (size_t i = 0; i < sizeof best_first / sizeof *best_first; i++)
        if (have(best_first[i])) return best_first[i];
    return -1;
}

const rk_ops *rk_ops_of(int path) {
    switch (path) {
#if defined(__x86_64__)
    case RK_PATH_AVX2: return &rk_ops_avx2;
    case RK_PATH_AVX512: return &rk_ops_avx512;
#elif defined(__aarch64__)
    case RK_PATH_NEON: return &rk_ops_neon;
    case RK_PATH_SDOT: return &rk_ops_sdot;
#endif
    default: return &rk_ops_portable;
    }
}
