/* AArch64 without the dot product: signed products of 8 bits, two of which fit in 16. */
#if defined(__aarch64__)
#include "ops_neon.h"

#define I8_ROWS 2
#define I8_COLS 16
#define OPS rk_ops_neon

/* A vector of b is 4 channels of 4 inputs; its halves give pair sums that meet at the end. */
static inline __attribute__((always_inline)) void tile_i8_n(int rows, const uint8_t *a, size_t lda, const int8_t *b,
                                                            int kp, int32_t *acc) {
    int32x4_t low[I8_ROWS][4], high[I8_ROWS][4];
#pragma GCC unroll 2
    for (int r = 0; r < rows; r++)
        for (int v = 0; v < 4; v++) low[r][v] = high[r][v] = vdupq_n_s32(0);
    for (int i = 0; i < kp / 4; i++, b += 4 * RK_BLOCK, a += 4)
#pragma GCC unroll 2
        for (int r = 0; r < rows; r++) {
            int32_t four;
            memcpy(&four, a + r * lda, 4);
            int8x8_t x = vreinterpret_s8_s32(vdup_n_s32(four));
#pragma GCC unroll 4
            for (int v = 0; v < 4; v++) {
                int8x16_t w = vld1q_s8(b + 16 * v);
                low[r][v] = vpadalq_s16(low[r][v], vmull_s8(x, vget_low_s8(w)));
                high[r][v] = vpadalq_s16(high[r][v], vmull_s8(x, vget_high_s8(w)));
            }
        }
#pragma GCC unroll 2
    for (int r = 0; r < rows; r++)
        for (int v = 0; v < 4; v++) vst1q_s32(acc + r * I8_COLS + 4 * v, vpaddq_s32(low[r][v], high[r][v]));
}

static void tile_i8(int rows, const uint8_t *a, size_t lda, const int8_t *b, const rk_linear *l, int c, int32_t *acc) {
    const int kp = l->kp;
    (void)c;
    if (rows == 1)
        tile_i8_n(1, a, lda, b, kp, acc);
    else
        tile_i8_n(2, a, lda, b, kp, acc);
}

#include "ops_body.h"
#else
typedef int rk_no_neon;
#endif
