/* What one instruction set has to offer to the model; every path is compiled
 * from ops_body.h with its own vector type and its own int8 tile. */
#ifndef RK_OPS_H
#define RK_OPS_H

#include "kernel.h"

/* rk_linear is y = x W^T + b, packed in blocks of RK_BLOCK channels:
 * w8 [block][k/4][RK_BLOCK][4], or w32 [block][k][RK_BLOCK]. Of w8 the inputs
 * are first multiplied by input. */
typedef struct {
    int n, k, kp;       /* channels, inputs, inputs padded to 16 */
    int np;             /* channels padded to RK_BLOCK */
    const int8_t *w8;   /* one of the two is set */
    const float *w32;
    const float *input; /* [k] */
    const float *scale; /* [np] of the channel's weights */
    const float *sum;   /* [np] scale times the sum of the channel's int8 weights */
    const float *bias;  /* [np] */
    const uint16_t *order; /* [np/16][kp/8], of w8: see RK_MILD */
    const uint16_t *mild;  /* [np/16] how many of order are mild */
} rk_linear;

/* Eight inputs of 16 channels are mild if, in each channel, the four weights
 * that meet in one 16-bit lane (bytes 0, 1, 4, 5, or 2, 3, 6, 7) sum to at most
 * RK_MILD, the positive and the negative ones apart: with activations of 7 bits
 * that sum cannot overflow. order has a block's eights, the mild ones first. */
enum { RK_MILD = 32767 / 127 };

enum { RK_OUTLIERS = 4 }; /* at most; a path may take fewer */

/* A quantised row: x[i] is about scale * q[i] + low. In most rows a few
 * inputs are many times the rest; they are left out of the range, and the
 * product gets rest[j] * W[..][at[j]] of them in floats. */
typedef struct {
    float scale, low;
    int outliers;
    int at[RK_OUTLIERS];
    float rest[RK_OUTLIERS];
} rk_range;

typedef struct {
    /* q is [rows][kp], row [kp] scratch. brief[r] is 1 for the rows of short
     * sequences, whose noise few other rows even out. */
    void (*quantize)(const rk_linear *l, const float *x, size_t ldx, int rows, const uint8_t *brief, float *row,
                     uint8_t *q, rk_range *range);
    /* out[r][c] = act(x W^T + b) + res[r][c]; res may be NULL. */
    void (*gemm_i8)(const rk_linear *l, const uint8_t *q, const rk_range *range, int rows, float *out, size_t ldo,
                    const float *res, size_t ldr, int act);
    void (*gemm_f32)(const rk_linear *l, const float *a, size_t lda, int rows, float *out, size_t ldo,
                     const float *res, size_t ldr, int act);
    void (*norm)(float *x, size_t ldx, int rows, int n, int np, const float *gamma, const float *beta, float eps);
    /* One sequence, one head: q, k, v are columns of rows of width ldq; out has
     * room for the head padded to RK_BLOCK. scratch: rk_attend_floats. */
    void (*attend)(const float *q, const float *k, const float *v, size_t ldq, int len, int dim, float *out,
                   size_t ldo, float *scratch);
    void (*embed)(const int8_t *word, float scale, const float *word_f32, const float *position, int n, float *x);
    void (*add)(float *sum, const float *x, int n);
} rk_ops;

static inline int rk_round(int n, int to) { return (n + to - 1) / to * to; }

enum { RK_MAX_ROWS = 12 }; /* rows of the highest tile of any path */

static inline size_t rk_attend_floats(int len, int dim) {
    size_t lp = (size_t)rk_round(len, RK_BLOCK), dp = (size_t)rk_round(dim, RK_BLOCK);
    return lp * (size_t)dim + (size_t)len * dp + RK_MAX_ROWS * lp;
}

extern const rk_ops rk_ops_portable;
#if defined(__x86_64__)
extern const rk_ops rk_ops_avx2, rk_ops_avx512;
#elif defined(__aarch64__)
extern const rk_ops rk_ops_neon, rk_ops_sdot;
#endif

#endif
