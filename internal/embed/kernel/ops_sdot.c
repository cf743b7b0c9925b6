/* AArch64 with SDOT: four signed products summed in 32 bits at once. */
#if defined(__aarch64__)
#include "ops_neon.h"

#define I8_ROWS 4
#define I8_COLS 16
#define OPS rk_ops_sdot

#if defined(__clang__)
TARGET_BEGIN("dotprod")
#else
TARGET_BEGIN("arch=armv8.2-a+dotprod")
#endif

static inline __attribute__((always_inline)) void tile_i8_n(int rows, const uint8_t *a, size_t lda, const int8_t *b,
                                                            int kp, int32_t *acc) {
    int32x4_t sum[I8_ROWS][4];
#pragma GCC unroll 4
    for (int r = 0; r < rows; r++)
        for (int v = 0; v < 4; v++) sum[r][v] = vdupq_n_s32(0);
    for (int i = 0; i < kp / 4; i++, b += 4 * RK_BLOCK, a += 4) {
        int8x16_t w[4];
#pragma GCC unroll 4
        for (int v = 0; v < 4; v++) w[v] = vld1q_s8(b + 16 * v);
#pragma GCC unroll 4
        for (int r = 0; r < rows; r++) {
            int32_t four;
            memcpy(&four, a + r * lda, 4);
            int8x16_t x = vreinterpretq_s8_s32(vdupq_n_s32(four));
#pragma GCC unroll 4
            for (int v = 0; v < 4; v++) sum[r][v] = vdotq_s32(sum[r][v], x, w[v]);
        }
    }
#pragma GCC unroll 4
    for (int r = 0; r < rows; r++)
        for (int v = 0; v < 4; v++) vst1q_s32(acc + r * I8_COLS + 4 * v, sum[r][v]);
}

static void tile_i8(int rows, const uint8_t *a, size_t lda, const int8_t *b, const rk_linear *l, int c, int32_t *acc) {
    const int kp = l->kp;
    (void)c;
    switch (rows) {
    case 1: tile_i8_n(1, a, lda, b, kp, acc); break;
    case 2: tile_i8_n(2, a, lda, b, kp, acc); break;
    case 3: tile_i8_n(3, a, lda, b, kp, acc); break;
    default: tile_i8_n(4, a, lda, b, kp, acc); break;
    }
}

TARGET_END

#include "ops_body.h"
#else
typedef int rk_no_sdot;
#endif
