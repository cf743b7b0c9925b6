/* x86-64 with AVX2 and FMA. The product of bytes sums pairs in 16 bits, which
 * leaves 7 bits for an activation; products of 16 bits are slower by a third
 * and lose nothing. */
#if defined(__x86_64__)
#include <immintrin.h>
#include <math.h>
#include <string.h>

#include "ops.h"
#include "target.h"

TARGET_BEGIN("avx2,fma")

typedef __m256 vf;
#define VW 8

static inline vf vf_load(const float *p) { return _mm256_loadu_ps(p); }
static inline void vf_store(float *p, vf x) { _mm256_storeu_ps(p, x); }
static inline vf vf_set(float x) { return _mm256_set1_ps(x); }
static inline vf vf_add(vf a, vf b) { return _mm256_add_ps(a, b); }
static inline vf vf_sub(vf a, vf b) { return _mm256_sub_ps(a, b); }
static inline vf vf_mul(vf a, vf b) { return _mm256_mul_ps(a, b); }
static inline vf vf_div(vf a, vf b) { return _mm256_div_ps(a, b); }
static inline vf vf_max(vf a, vf b) { return _mm256_max_ps(a, b); }
static inline vf vf_min(vf a, vf b) { return _mm256_min_ps(a, b); }
static inline vf vf_fma(vf a, vf b, vf c) { return _mm256_fmadd_ps(a, b, c); }
static inline vf vf_sqrt(vf a) { return _mm256_sqrt_ps(a); }
static inline vf vf_round(vf a) { return _mm256_round_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }
static inline vf vf_scale2(vf x, vf n) {
    __m256i e = _mm256_slli_epi32(_mm256_add_epi32(_mm256_cvtps_epi32(n), _mm256_set1_epi32(127)), 23);
    return _mm256_mul_ps(x, _mm256_castsi256_ps(e));
}
#define ACROSS(name, op)                                                           \
    static inline float name(vf a) {                                               \
        __m128 x = op(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));     \
        x = op(x, _mm_movehl_ps(x, x));                                            \
        return _mm_cvtss_f32(op(x, _mm_shuffle_ps(x, x, 1)));                      \
    }
ACROSS(vf_sum, _mm_add_ps)
ACROSS(vf_top, _mm_max_ps)
ACROSS(vf_low, _mm_min_ps)
static inline vf vf_from_i32(const int32_t *p) { return _mm256_cvtepi32_ps(_mm256_loadu_si256((const __m256i *)p)); }
static inline vf vf_from_i8(const int8_t *p) {
    return _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_loadl_epi64((const __m128i *)p)));
}
static inline void vf_to_act(int16_t *p, vf x) {
    __m256i i = _mm256_cvtps_epi32(x);
    _mm_storeu_si128((__m128i *)p, _mm_packs_epi32(_mm256_castsi256_si128(i), _mm256_extracti128_si256(i, 1)));
}

#define F32_ROWS 6
#define F32_COLS 16
#define INT_ROWS 6
#define INT_COLS 16
#define INT_GROUP 2
typedef int16_t act_t;
#define SIGNED 0
#define OPS rk_ops_avx2

static inline __attribute__((always_inline)) void tile_int_n(int rows, const int16_t *a, size_t lda, const int16_t *b,
                                                             int kp, int32_t *acc) {
    __m256i sum[INT_ROWS][2];
#pragma GCC unroll 6
    for (int r = 0; r < rows; r++) sum[r][0] = sum[r][1] = _mm256_setzero_si256();
    for (int i = 0; i < kp / 2; i++, b += 2 * RK_BLOCK, a += 2) {
        __m256i b0 = _mm256_loadu_si256((const __m256i *)b), b1 = _mm256_loadu_si256((const __m256i *)(b + 16));
#pragma GCC unroll 6
        for (int r = 0; r < rows; r++) {
            int32_t two;
            memcpy(&two, a + r * lda, 4);
            __m256i x = _mm256_set1_epi32(two);
            sum[r][0] = _mm256_add_epi32(sum[r][0], _mm256_madd_epi16(x, b0));
            sum[r][1] = _mm256_add_epi32(sum[r][1], _mm256_madd_epi16(x, b1));
        }
    }
#pragma GCC unroll 6
    for (int r = 0; r < rows; r++) {
        _mm256_storeu_si256((__m256i *)(acc + r * INT_COLS), sum[r][0]);
        _mm256_storeu_si256((__m256i *)(acc + r * INT_COLS + 8), sum[r][1]);
    }
}

static void tile_int(int rows, const int16_t *a, size_t lda, const int16_t *b, int kp, int32_t *acc) {
    switch (rows) {
    case 1: tile_int_n(1, a, lda, b, kp, acc); break;
    case 2: tile_int_n(2, a, lda, b, kp, acc); break;
    case 3: tile_int_n(3, a, lda, b, kp, acc); break;
    case 4: tile_int_n(4, a, lda, b, kp, acc); break;
    case 5: tile_int_n(5, a, lda, b, kp, acc); break;
    default: tile_int_n(6, a, lda, b, kp, acc); break;
    }
}

#include "ops_body.h"

TARGET_END
#else
typedef int rk_no_avx2;
#endif
