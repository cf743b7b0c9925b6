/* Forward pass of a BERT encoder, one thread, no padding: the tokens of all
 * sequences are the rows of one matrix through every linear layer, and
 * attention runs per sequence. A row's result does not depend on its batch.
 *
 * Matrices are row-major. Widths are padded with zeros to RK_BLOCK channels,
 * so kernels have no column tails. */
#ifndef RK_KERNEL_H
#define RK_KERNEL_H

#include <stddef.h>
#include <stdint.h>

enum { RK_BLOCK = 32 }; /* channels of a packed block */

enum { RK_PATH_AUTO, RK_PATH_PORTABLE, RK_PATH_AVX2, RK_PATH_AVX512, RK_PATH_NEON, RK_PATH_SDOT };
enum { RK_ACT_NONE, RK_ACT_GELU, RK_ACT_GELU_TANH, RK_ACT_RELU };
enum { RK_POOL_MEAN, RK_POOL_CLS };
enum { RK_QKV, RK_OUT, RK_UP, RK_DOWN, RK_LINEARS };
enum { RK_NORM_EMBED, RK_NORM_ATTEND, RK_NORM_FFN };
enum { RK_OK, RK_NO_MEMORY, RK_BAD_ARGUMENT };

typedef struct {
    int32_t layers, hidden, heads, ffn, vocab, positions;
    int32_t act;  /* RK_ACT_* */
    int32_t path; /* RK_PATH_* */
    float eps;    /* of the layer norms */
} rk_config;

typedef struct rk_model rk_model;
typedef struct rk_run rk_run;

/* rk_path returns the path that want means on this CPU, or -1 if it cannot run here. */
int rk_path(int want);

/* rk_new returns an empty model, or NULL. */
rk_model *rk_new(const rk_config *config);
void rk_free(rk_model *m);

/* Weights. word, [vocab][hidden], is kept by address and must outlive the
 * model: int8 with a scale per row, or float (scale NULL). All else is copied.
 * A linear is [n][k], from int8 with a scale per output channel, or float. The
 * inputs of an int8 one are first multiplied by input [k] (NULL: by 1). */
int rk_set_words(rk_model *m, const int8_t *word, const float *scale, const float *word_f32);
int rk_set_positions(rk_model *m, const float *table); /* [positions][hidden], token type added */
int rk_set_norm(rk_model *m, int which, int layer, const float *gamma, const float *beta);
int rk_set_linear(rk_model *m, int which, int layer, const int8_t *w, const float *scale, const float *input,
                  const float *w_f32, const float *bias);

/* A run is the scratch memory of one thread, for at most tokens tokens a batch. */
rk_run *rk_run_new(const rk_model *m, int tokens);
void rk_run_free(rk_run *r);

/* A batch: rk_begin with the ids of count sequences, lens[i] each; rk_layer for
 * each layer in order; rk_end, which writes [count][hidden] unit vectors (a
 * vector of no length stays zero). */
int rk_begin(rk_run *r, const int32_t *ids, const int32_t *lens, int count);
int rk_layer(rk_run *r, int layer);
int rk_end(rk_run *r, int pool, float *out);

/* Zeroed memory on a cache line; NULL if there is none. Freed by rk_release. */
void *rk_take(size_t count, size_t size);
void rk_release(const void *p);

#endif
