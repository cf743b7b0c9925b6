/* x86-64 with AVX-512 and its VNNI: four products are summed in 32 bits at
 * once, so activations keep all 8 bits. */
#if defined(__x86_64__)
#include <immintrin.h>
#include <math.h>
#include <string.h>

#include "ops.h"
#include "target.h"

TARGET_BEGIN("avx512f,avx512bw,avx512vl,avx512dq,avx512vnni,avx2,fma")

typedef __m512 vf;
#define VW 16

static inline vf vf_load(const float *p) { return _mm512_loadu_ps(p); }
static inline void vf_store(float *p, vf x) { _mm512_storeu_ps(p, x); }
static inline vf vf_set(float x) { return _mm512_set1_ps(x); }
static inline vf vf_add(vf a, vf b) { return _mm512_add_ps(a, b); }
static inline vf vf_sub(vf a, vf b) { return _mm512_sub_ps(a, b); }
static inline vf vf_mul(vf a, vf b) { return _mm512_mul_ps(a, b); }
static inline vf vf_div(vf a, vf b) { return _mm512_div_ps(a, b); }
static inline vf vf_max(vf a, vf b) { return _mm512_max_ps(a, b); }
static inline vf vf_min(vf a, vf b) { return _mm512_min_ps(a, b); }
static inline vf vf_fma(vf a, vf b, vf c) { return _mm512_fmadd_ps(a, b, c); }
static inline vf vf_sqrt(vf a) { return _mm512_sqrt_ps(a); }
static inline vf vf_round(vf a) { return _mm512_roundscale_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }
static inline vf vf_scale2(vf x, vf n) { return _mm512_scalef_ps(x, n); }
static inline float vf_sum(vf a) { return _mm512_reduce_add_ps(a); }
static inline float vf_top(vf a) { return _mm512_reduce_max_ps(a); }
static inline float vf_low(vf a) { return _mm512_reduce_min_ps(a); }
static inline vf vf_from_i32(const int32_t *p) { return _mm512_cvtepi32_ps(_mm512_loadu_si512(p)); }
static inline vf vf_from_i8(const int8_t *p) {
    return _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_loadu_si128((const __m128i *)p)));
}
static inline void vf_to_u8(uint8_t *p, vf x) {
    _mm_storeu_si128((__m128i *)p, _mm512_cvtusepi32_epi8(_mm512_cvtps_epi32(x)));
}
static inline vf vf_byte(const int8_t *p, int shift) {
    __m512i x = _mm512_sll_epi32(_mm512_loadu_si512(p), _mm_cvtsi32_si128(shift));
    return _mm512_cvtepi32_ps(_mm512_srai_epi32(x, 24));
}

#define F32_ROWS 12
#define F32_COLS 32
#define I8_ROWS 12
#define I8_COLS 32
#define LEVELS 255
#define BRIEF_OUTLIERS 0
#define SIGNED 0
#define OPS rk_ops_avx512

static inline __attribute__((always_inline)) void tile_i8_n(int rows, const uint8_t *a, size_t lda, const int8_t *b,
                                                            int kp, int32_t *acc) {
    __m512i sum[I8_ROWS][2];
#pragma GCC unroll 12
    for (int r = 0; r < rows; r++) sum[r][0] = sum[r][1] = _mm512_setzero_si512();
    for (int i = 0; i < kp / 4; i++, b += 4 * RK_BLOCK, a += 4) {
        __m512i b0 = _mm512_loadu_si512(b), b1 = _mm512_loadu_si512(b + 64);
#pragma GCC unroll 12
        for (int r = 0; r < rows; r++) {
            int32_t four;
            memcpy(&four, a + r * lda, 4);
            __m512i x = _mm512_set1_epi32(four);
            sum[r][0] = _mm512_dpbusd_epi32(sum[r][0], x, b0);
            sum[r][1] = _mm512_dpbusd_epi32(sum[r][1], x, b1);
        }
    }
#pragma GCC unroll 12
    for (int r = 0; r < rows; r++) {
        _mm512_storeu_si512(acc + r * I8_COLS, sum[r][0]);
        _mm512_storeu_si512(acc + r * I8_COLS + 16, sum[r][1]);
    }
}

static void tile_i8(int rows, const uint8_t *a, size_t lda, const int8_t *b, const rk_linear *l, int c, int32_t *acc) {
    const int kp = l->kp;
    (void)c;
    switch (rows) {
#define CASE(n) \
    case n: tile_i8_n(n, a, lda, b, kp, acc); break;
        CASE(1) CASE(2) CASE(3) CASE(4) CASE(5) CASE(6) CASE(7) CASE(8) CASE(9) CASE(10) CASE(11) CASE(12)
#undef CASE
    }
}

#include "ops_body.h"

TARGET_END
#else
typedef int rk_no_avx512;
#endif
