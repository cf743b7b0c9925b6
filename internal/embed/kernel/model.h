/* Weights and their memory; forward.c runs them. */
#ifndef RK_MODEL_H
#define RK_MODEL_H

#include "detect.h"

typedef struct {
    float *gamma, *beta; /* padded with zeros */
} rk_norm;

typedef struct {
    rk_linear linear[RK_LINEARS];
    rk_norm attend, ffn;
} rk_layer_weights;

struct rk_model {
    rk_config c;
    const rk_ops *ops;
    int hp; /* hidden, padded to RK_BLOCK */
    int fp; /* ffn, padded */
    const int8_t *word;
    const float *word_scale, *word_f32;
    float *positions; /* [positions][hidden] */
    rk_norm embed;
    rk_layer_weights *layers;
};

#endif
