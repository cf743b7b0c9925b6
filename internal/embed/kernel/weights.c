/* Building a model: memory, checks, and packing of weights into blocks. */
#include "model.h"

#include <stdlib.h>
#include <string.h>

enum { LINE = 64 };

void *rk_take(size_t count, size_t size) {
    if (size && count > (SIZE_MAX - 2 * LINE) / size) return NULL;
    char *p = calloc(1, count * size + 2 * LINE);
    if (!p) return NULL;
    char *at = p + LINE + (LINE - (uintptr_t)p % LINE) % LINE;
    memcpy(at - sizeof p, &p, sizeof p); /* what to free stands in front */
    return at;
}

void rk_release(const void *p) {
    char *whole;
    if (!p) return;
    memcpy(&whole, (const char *)p - sizeof whole, sizeof whole);
    free(whole);
}

rk_model *rk_new(const rk_config *c) {
    int path = rk_path(c->path);
    if (path < 0 || c->layers < 1 || c->layers > 256 || c->hidden < 1 || c->hidden > 1 << 14 || c->heads < 1 ||
        c->hidden % c->heads || c->ffn < 1 || c->ffn > 1 << 16 || c->vocab < 1 || c->positions < 1 ||
        c->positions > 1 << 16 || c->act < RK_ACT_NONE || c->act > RK_ACT_RELU)
        return NULL;
    rk_model *m = rk_take(1, sizeof *m);
    if (!m) return NULL;
    m->c = *c;
    m->c.path = path;
    m->ops = rk_ops_of(path);
    m->hp = rk_round(c->hidden, RK_BLOCK);
    m->fp = rk_round(c->ffn, RK_BLOCK);
    m->layers = rk_take((size_t)c->layers, sizeof *m->layers);
    if (m->layers) return m;
    rk_free(m);
    return NULL;
}

static void clear_norm(rk_norm *n) {
    rk_release(n->gamma);
    rk_release(n->beta);
    n->gamma = n->beta = NULL;
}

static void clear_linear(rk_linear *l) {
    rk_release(l->w8);
    rk_release(l->w32);
    rk_release(l->input);
    rk_release(l->order);
    rk_release(l->mild);
    rk_release(l->scale);
    rk_release(l->sum);
    rk_release(l->bias);
    memset(l, 0, sizeof *l);
}

void rk_free(rk_model *m) {
    if (!m) return;
    for (int i = 0; m->layers && i < m->c.layers; i++) {
        for (int j = 0; j < RK_LINEARS; j++) clear_linear(&m->layers[i].linear[j]);
        clear_norm(&m->layers[i].attend);
        clear_norm(&m->layers[i].ffn);
    }
    clear_norm(&m->embed);
    rk_release(m->layers);
    rk_release(m->word_scale);
    rk_release(m->positions);
    rk_release(m);
}

int rk_set_words(rk_model *m, const int8_t *word, const float *scale, const float *word_f32) {
    if (!word_f32 && !(word && scale)) return RK_BAD_ARGUMENT;
    float *copy = NULL;
    if (!word_f32) {
        copy = rk_take((size_t)m->c.vocab, sizeof *copy);
        if (!copy) return RK_NO_MEMORY;
        memcpy(copy, scale, (size_t)m->c.vocab * sizeof *copy);
    }
    rk_release(m->word_scale);
    m->word = word_f32 ? NULL : word;
    m->word_scale = copy;
    m->word_f32 = word_f32;
    return RK_OK;
}

int rk_set_positions(rk_model *m, const float *table) {
    size_t n = (size_t)m->c.positions * (size_t)m->c.hidden;
    float *copy = rk_take(n, sizeof *copy);
    if (!copy) return RK_NO_MEMORY;
    memcpy(copy, table, n * sizeof *copy);
    rk_release(m->positions);
    m->positions = copy;
    return RK_OK;
}

int rk_set_norm(rk_model *m, int which, int layer, const float *gamma, const float *beta) {
    if (which != RK_NORM_EMBED && (layer < 0 || layer >= m->c.layers)) return RK_BAD_ARGUMENT;
    rk_norm *n = which == RK_NORM_EMBED    ? &m->embed
                 : which == RK_NORM_ATTEND ? &m->layers[layer].attend
                                           : &m->layers[layer].ffn;
    clear_norm(n);
    n->gamma = rk_take((size_t)m->hp, sizeof(float));
    n->beta = rk_take((size_t)m->hp, sizeof(float));
    if (!n->gamma || !n->beta) return RK_NO_MEMORY;
    memcpy(n->gamma, gamma, (size_t)m->c.hidden * sizeof(float));
    memcpy(n->beta, beta, (size_t)m->c.hidden * sizeof(float));
    return RK_OK;
}

/* Whether eight packed inputs of 16 channels are mild. */
static int is_mild(const int8_t *w) {
    for (int lane = 0; lane < 16 * 4; lane += 2) { /* channel lane/4, bytes 0-1 or 2-3 */
        const int8_t *at[2] = {w + lane, w + 4 * RK_BLOCK + lane};
        int plus = 0, minus = 0;
        for (int j = 0; j < 4; j++) {
            int x = at[j / 2][j % 2];
            plus += x > 0 ? x : 0;
            minus -= x < 0 ? x : 0;
        }
        if (plus > RK_MILD || minus > RK_MILD) return 0;
    }
    return 1;
}

static int find_order(rk_linear *l) {
    size_t blocks = (size_t)l->np / 16, all = (size_t)l->kp / 8;
    uint16_t *order = rk_take(blocks * all, sizeof *order), *mild = rk_take(blocks, sizeof *mild);
    l->order = order, l->mild = mild;
    if (!order || !mild) return RK_NO_MEMORY;
    for (size_t c = 0; c < blocks; c++, order += all) {
        const int8_t *w = l->w8 + c / 2 * RK_BLOCK * (size_t)l->kp + c % 2 * 16 * 4;
        size_t first = 0, last = all;
        for (size_t i = 0; i < all; i++) {
            int is = is_mild(w + i * 8 * RK_BLOCK);
            order[is ? first++ : --last] = (uint16_t)i;
        }
        mild[c] = (uint16_t)first;
    }
    return RK_OK;
}

static int pack_i8(rk_linear *l, const int8_t *w, const float *scale, const float *input) {
    size_t np = (size_t)l->np, k = (size_t)l->k, kp = (size_t)l->kp;
    int8_t *to = rk_take(np * kp, 1);
    float *s = rk_take(np, sizeof *s), *sum = rk_take(np, sizeof *sum), *in = rk_take(k, sizeof *in);
    l->w8 = to, l->scale = s, l->sum = sum, l->input = in;
    if (!to || !s || !sum || !in) return RK_NO_MEMORY;
    for (size_t i = 0; i < k; i++) in[i] = input ? input[i] : 1;
    for (size_t c = 0; c < (size_t)l->n; c++) {
        int8_t *block = to + c / RK_BLOCK * RK_BLOCK * kp + c % RK_BLOCK * 4;
        int32_t total = 0;
        for (size_t i = 0; i < k; i++) {
            int8_t x = w[c * k + i];
            block[i / 4 * 4 * RK_BLOCK + i % 4] = x;
            total += x;
        }
        s[c] = scale[c];
        sum[c] = scale[c] * (float)total;
    }
    return find_order(l);
}

static int pack_f32(rk_linear *l, const float *w) {
    float *to = rk_take((size_t)l->np * (size_t)l->k, sizeof *to);
    l->w32 = to;
    if (!to) return RK_NO_MEMORY;
    for (int c = 0; c < l->n; c++) {
        float *block = to + (size_t)(c / RK_BLOCK) * RK_BLOCK * (size_t)l->k + (size_t)(c % RK_BLOCK);
        for (int i = 0; i < l->k; i++) block[(size_t)i * RK_BLOCK] = w[(size_t)c * (size_t)l->k + (size_t)i];
    }
    return RK_OK;
}

int rk_set_linear(rk_model *m, int which, int layer, const int8_t *w, const float *scale, const float *input,
                  const float *w_f32, const float *bias) {
    if (layer < 0 || layer >= m->c.layers || which < 0 || which >= RK_LINEARS || !bias || !(w_f32 || (w && scale)))
        return RK_BAD_ARGUMENT;
    rk_linear *l = &m->layers[layer].linear[which];
    clear_linear(l);
    l->n = which == RK_QKV ? 3 * m->c.hidden : which == RK_UP ? m->c.ffn : m->c.hidden;
    l->k = which == RK_DOWN ? m->c.ffn : m->c.hidden;
    l->np = rk_round(l->n, RK_BLOCK);
    l->kp = rk_round(l->k, 16);
    float *b = rk_take((size_t)l->np, sizeof *b);
    l->bias = b;
    if (!b) return RK_NO_MEMORY;
    memcpy(b, bias, (size_t)l->n * sizeof *b);
    return w_f32 ? pack_f32(l, w_f32) : pack_i8(l, w, scale, input);
}
