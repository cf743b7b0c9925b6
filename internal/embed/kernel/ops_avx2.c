/* x86-64 with AVX2 and FMA. The product of bytes sums pairs in 16 bits, which
 * leaves 7 bits for an activation. */
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
static inline void vf_to_u8(uint8_t *p, vf x) {
    __m256i i = _mm256_cvtps_epi32(x);
    __m128i w = _mm_packus_epi32(_mm256_castsi256_si128(i), _mm256_extracti128_si256(i, 1));
    _mm_storel_epi64((__m128i *)p, _mm_packus_epi16(w, w));
}
static inline vf vf_byte(const int8_t *p, int shift) {
    __m256i x = _mm256_sll_epi32(_mm256_loadu_si256((const __m256i *)p), _mm_cvtsi32_si128(shift));
    return _mm256_cvtepi32_ps(_mm256_srai_epi32(x, 24));
}

#define F32_ROWS 6
#define F32_COLS 16
#define I8_ROWS 4
#define I8_COLS 16
#define LEVELS 127
#define BRIEF_OUTLIERS 4
#define SIGNED 0
#define OPS rk_ops_avx2

static inline __m256i four(const uint8_t *a) {
    int32_t x;
    memcpy(&x, a, 4);
    return _mm256_set1_epi32(x);
}

static inline __m256i load(const int8_t *b) { return _mm256_loadu_si256((const __m256i *)b); }

/* Eight inputs into the sums of two vectors of channels. mild: see RK_MILD. */
static inline __attribute__((always_inline)) void eight(int rows, int mild, const uint8_t *a, size_t lda, const int8_t *b,
                                                        __m256i sum[I8_ROWS][2]) {
    const __m256i ones = _mm256_set1_epi16(1);
#pragma GCC unroll 2
    for (int v = 0; v < 2; v++) {
        __m256i b0 = load(b + 32 * v), b1 = load(b + 4 * RK_BLOCK + 32 * v);
#pragma GCC unroll 4
        for (int r = 0; r < rows; r++) {
            __m256i p0 = _mm256_maddubs_epi16(four(a + r * lda), b0);
            __m256i p1 = _mm256_maddubs_epi16(four(a + r * lda + 4), b1);
            if (mild)
                p0 = _mm256_madd_epi16(_mm256_add_epi16(p0, p1), ones);
            else
                p0 = _mm256_add_epi32(_mm256_madd_epi16(p0, ones), _mm256_madd_epi16(p1, ones));
            sum[r][v] = _mm256_add_epi32(sum[r][v], p0);
        }
    }
}

static inline __attribute__((always_inline)) void tile_i8_n(int rows, const uint8_t *a, size_t lda, const int8_t *b,
                                                            const uint16_t *order, int mild, int all, int32_t *acc) {
    __m256i sum[I8_ROWS][2];
    int i = 0;
#pragma GCC unroll 4
    for (int r = 0; r < rows; r++) sum[r][0] = sum[r][1] = _mm256_setzero_si256();
    for (; i < mild; i++) eight(rows, 1, a + 8 * order[i], lda, b + (size_t)8 * RK_BLOCK * order[i], sum);
    for (; i < all; i++) eight(rows, 0, a + 8 * order[i], lda, b + (size_t)8 * RK_BLOCK * order[i], sum);
#pragma GCC unroll 4
    for (int r = 0; r < rows; r++) {
        _mm256_storeu_si256((__m256i *)(acc + r * I8_COLS), sum[r][0]);
        _mm256_storeu_si256((__m256i *)(acc + r * I8_COLS + 8), sum[r][1]);
    }
}

static void tile_i8(int rows, const uint8_t *a, size_t lda, const int8_t *b, const rk_linear *l, int c, int32_t *acc) {
    const int all = l->kp / 8, mild = l->mild[c / 16];
    const uint16_t *order = l->order + (size_t)(c / 16) * (size_t)all;
    switch (rows) {
    case 1: tile_i8_n(1, a, lda, b, order, mild, all, acc); break;
    case 2: tile_i8_n(2, a, lda, b, order, mild, all, acc); break;
    case 3: tile_i8_n(3, a, lda, b, order, mild, all, acc); break;
    default: tile_i8_n(4, a, lda, b, order, mild, all, acc); break;
    }
}

#include "ops_body.h"

TARGET_END
#else
typedef int rk_no_avx2;
#endif
