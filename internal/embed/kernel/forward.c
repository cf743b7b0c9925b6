/* One batch through the model. A run is driven layer by layer, so that its
 * owner can stop between two layers. */
#include "model.h"

#include <math.h>
#include <string.h>

enum { BRIEF = 16 }; /* tokens below which a sequence is short */
enum { PANEL = 48 }; /* rows whose intermediate results stay in the cache */

struct rk_run {
    const rk_model *m;
    int room;  /* tokens */
    int count; /* sequences of the current batch, at most room */
    int rows;  /* their tokens */
    int ldq, ldc;
    int32_t *lens;
    uint8_t *brief; /* [room] 1 for the rows of short sequences */
    float *x;     /* [room][hp] hidden state */
    float *qkv;   /* [room][ldq] */
    float *ctx;   /* [room][ldc] attention output */
    float *up;    /* [PANEL][fp] */
    float *y;     /* [PANEL][hp] */
    uint8_t *q;   /* [PANEL][max kp] quantised input */
    float *row;   /* [max kp] */
    float *score; /* rk_attend_floats */
    rk_range range[PANEL];
};

void rk_run_free(rk_run *r) {
    if (!r) return;
    rk_release(r->lens);
    rk_release(r->brief);
    rk_release(r->x);
    rk_release(r->qkv);
    rk_release(r->ctx);
    rk_release(r->up);
    rk_release(r->y);
    rk_release(r->q);
    rk_release(r->row);
    rk_release(r->score);
    rk_release(r);
}

rk_run *rk_run_new(const rk_model *m, int tokens) {
    if (tokens < 1 || tokens > 1 << 20) return NULL;
    rk_run *r = rk_take(1, sizeof *r);
    if (!r) return NULL;
    const rk_config *c = &m->c;
    size_t n = (size_t)tokens;
    int longest = tokens < c->positions ? tokens : c->positions;
    r->m = m;
    r->room = tokens;
    r->ldq = rk_round(3 * c->hidden, RK_BLOCK);
    r->ldc = m->hp + RK_BLOCK; /* the last head's padding */
    r->lens = rk_take(n, sizeof *r->lens);
    r->brief = rk_take(n, 1);
    r->x = rk_take(n * (size_t)m->hp, sizeof(float));
    r->qkv = rk_take(n * (size_t)r->ldq, sizeof(float));
    r->ctx = rk_take(n * (size_t)r->ldc, sizeof(float));
    r->up = rk_take((size_t)PANEL * (size_t)m->fp, sizeof(float));
    r->y = rk_take((size_t)PANEL * (size_t)m->hp, sizeof(float));
    size_t widest = (size_t)rk_round(c->ffn > c->hidden ? c->ffn : c->hidden, 16);
    r->q = rk_take(PANEL * widest, 1);
    r->row = rk_take(widest, sizeof(float));
    r->score = rk_take(rk_attend_floats(longest, c->hidden / c->heads), sizeof(float));
    if (r->lens && r->brief && r->x && r->qkv && r->ctx && r->up && r->y && r->q && r->row && r->score) return r;
    rk_run_free(r);
    return NULL;
}

int rk_begin(rk_run *r, const int32_t *ids, const int32_t *lens, int count) {
    const rk_model *m = r->m;
    const rk_config *c = &m->c;
    int rows = 0;
    r->count = r->rows = 0;
    if (count < 1 || count > r->room) return RK_BAD_ARGUMENT;
    if (!m->positions || !m->embed.gamma || !(m->word || m->word_f32)) return RK_BAD_ARGUMENT;
    for (int i = 0; i < count; i++) {
        if (lens[i] < 1 || lens[i] > c->positions || lens[i] > r->room - rows) return RK_BAD_ARGUMENT;
        rows += lens[i];
    }
    for (int i = 0; i < rows; i++)
        if (ids[i] < 0 || ids[i] >= c->vocab) return RK_BAD_ARGUMENT;
    memcpy(r->lens, lens, (size_t)count * sizeof *lens);
    float *x = r->x;
    uint8_t *brief = r->brief;
    for (int i = 0; i < count; i++)
        for (int p = 0; p < lens[i]; p++, x += m->hp, ids++) {
            *brief++ = lens[i] < BRIEF;
            size_t at = (size_t)*ids * (size_t)c->hidden;
            memset(x + c->hidden, 0, (size_t)(m->hp - c->hidden) * sizeof *x);
            m->ops->embed(m->word ? m->word + at : NULL, m->word ? m->word_scale[*ids] : 0,
                          m->word ? NULL : m->word_f32 + at, m->positions + (size_t)p * (size_t)c->hidden, c->hidden,
                          x);
        }
    m->ops->norm(r->x, (size_t)m->hp, rows, c->hidden, m->hp, m->embed.gamma, m->embed.beta, c->eps);
    r->count = count;
    r->rows = rows;
    return RK_OK;
}

/* out = act(a W^T + b) + res for at most PANEL rows, the batch's from first on. */
static void linear(rk_run *r, const rk_linear *l, int first, const float *a, size_t lda, int rows, float *out, size_t ldo,
                   const float *res, size_t ldr, int act) {
    const rk_ops *ops = r->m->ops;
    if (l->w32) {
        ops->gemm_f32(l, a, lda, rows, out, ldo, res, ldr, act);
        return;
    }
    ops->quantize(l, a, lda, rows, r->brief + first, r->row, r->q, r->range);
    ops->gemm_i8(l, r->q, r->range, rows, out, ldo, res, ldr, act);
}

/* Everything of a layer behind its attention, for one panel: x is replaced. */
static void finish(rk_run *r, const rk_layer_weights *w, int first, int rows) {
    const rk_model *m = r->m;
    size_t hp = (size_t)m->hp;
    const float *ctx = r->ctx + (size_t)first * (size_t)r->ldc;
    float *x = r->x + (size_t)first * hp;
    linear(r, &w->linear[RK_OUT], first, ctx, (size_t)r->ldc, rows, r->y, hp, x, hp, RK_ACT_NONE);
    m->ops->norm(r->y, hp, rows, m->c.hidden, m->hp, w->attend.gamma, w->attend.beta, m->c.eps);
    linear(r, &w->linear[RK_UP], first, r->y, hp, rows, r->up, (size_t)m->fp, NULL, 0, m->c.act);
    linear(r, &w->linear[RK_DOWN], first, r->up, (size_t)m->fp, rows, x, hp, r->y, hp, RK_ACT_NONE);
    m->ops->norm(x, hp, rows, m->c.hidden, m->hp, w->ffn.gamma, w->ffn.beta, m->c.eps);
}

static int panel(const rk_run *r, int at) { return r->rows - at < PANEL ? r->rows - at : PANEL; }

int rk_layer(rk_run *r, int layer) {
    const rk_model *m = r->m;
    if (layer < 0 || layer >= m->c.layers || r->rows < 1) return RK_BAD_ARGUMENT;
    const rk_layer_weights *w = &m->layers[layer];
    for (int i = 0; i < RK_LINEARS; i++)
        if (!w->linear[i].bias) return RK_BAD_ARGUMENT;
    if (!w->attend.gamma || !w->ffn.gamma) return RK_BAD_ARGUMENT;
    size_t hp = (size_t)m->hp, ldq = (size_t)r->ldq, ldc = (size_t)r->ldc;
    int hidden = m->c.hidden, dim = hidden / m->c.heads;
    for (int t = 0; t < r->rows; t += PANEL)
        linear(r, &w->linear[RK_QKV], t, r->x + (size_t)t * hp, hp, panel(r, t), r->qkv + (size_t)t * ldq, ldq, NULL, 0,
               RK_ACT_NONE);
    size_t row = 0;
    for (int i = 0; i < r->count; row += (size_t)r->lens[i], i++)
        for (int h = 0; h < m->c.heads; h++) { /* in order: a head's padding is overwritten by the next */
            const float *q = r->qkv + row * ldq + (size_t)h * (size_t)dim;
            m->ops->attend(q, q + hidden, q + 2 * hidden, ldq, r->lens[i], dim, r->ctx + row * ldc + (size_t)h * (size_t)dim,
                           ldc, r->score);
        }
    for (int t = 0; t < r->rows; t += PANEL) finish(r, w, t, panel(r, t));
    return RK_OK;
}

int rk_end(rk_run *r, int pool, float *out) {
    const rk_model *m = r->m;
    int hidden = m->c.hidden;
    const float *x = r->x;
    if (r->rows < 1) return RK_BAD_ARGUMENT;
    for (int i = 0; i < r->count; i++, out += hidden) {
        int used = pool == RK_POOL_CLS ? 1 : r->lens[i];
        float *sum = r->y; /* free between two batches */
        memset(sum, 0, (size_t)m->hp * sizeof *sum);
        for (int t = 0; t < used; t++) m->ops->add(sum, x + (size_t)t * (size_t)m->hp, m->hp);
        double square = 0;
        for (int j = 0; j < hidden; j++) square += (double)sum[j] * sum[j];
        float inv = square > 0 ? (float)(1 / sqrt(square)) : 0;
        for (int j = 0; j < hidden; j++) out[j] = sum[j] * inv;
        x += (size_t)r->lens[i] * (size_t)m->hp;
    }
    r->rows = r->count = 0;
    return RK_OK;
}
