/* What one instruction set has to offer to the model; every path is compiled
 * from ops_body.h with its own vector type and its own int8 tile. */
#ifndef RK_OPS_H
#define RK_OPS_H

#include "kernel.h"

/* rk_linear is y = x W^T + b, packed in blocks of RK_BLOCK channels:
 * w8 [block][k/4][RK_BLOCK][4], w16 [block][k/2][RK_BLOCK][2], or w32
 * [block][k][RK_BLOCK]. Of w8 and w16 the inputs are first multiplied by input. */
typedef struct {
    int n, k, kp;       /* channels, inputs, inputs padded to 16 */
    int np;             /* channels padded to RK_BLOCK */
    const int8_t *w8;   /* one of the three is set */
    const int16_t *w16; /* the same values, widened once for paths that multiply in 16 bits */
    const float *w32;
    const float *input; /* [k] */
    const float *scale; /* [np] of the channel's weights */
    const float *sum;   /* [np] scale times the sum of the channel's int8 weights */
    const float *bias;  /* [np] */
} rk_linear;

/* A quantised row: x[i] is about scale * q[i] + low. */
typedef struct {
    float scale, low;
} rk_range;

typedef struct {
    int bits; /* of an activation in memory: 8, or 16 where the CPU has no product of bytes worth having */
    /* [rows][kp] values of that size; x is multiplied by l->input. */
    void (*quantize)(const rk_linear *l, const float *x, size_t ldx, int rows, void *q, rk_range *range);
    /* out[r][c] = act(x W^T + b) + res[r][c]; res may be NULL. */
    void (*gemm_int)(const rk_linear *l, const void *q, const rk_range *range, int rows, float *out, size_t ldo,
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
