/* Runs every path of this CPU over random small models and all lengths, for the
 * sanitizers: each buffer is a heap block of exactly its size. Results are held
 * against the portable float path. Exit 1 on a difference. */
#include "../kernel.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static uint32_t state = 1;

static float uniform(void) { /* -1..1 */
    state = state * 1664525u + 1013904223u;
    return (float)(state >> 8) / (float)(1 << 23) - 1;
}

static void *block(size_t size) {
    void *p = malloc(size);
    if (!p) exit(2);
    return p;
}

static float *floats(size_t n, float size, float around) {
    float *p = block(n * sizeof *p);
    for (size_t i = 0; i < n; i++) p[i] = around + size * uniform();
    return p;
}

/* One linear, the same weights as int8 for one model and as floats for the other. */
static void linear(rk_model *q, rk_model *f, int which, int layer, int n, int k) {
    int8_t *w = block((size_t)n * (size_t)k);
    float unit = 1.5f / (127 * sqrtf((float)k));
    float *scale = floats((size_t)n, 0.2f * unit, unit), *bias = floats((size_t)n, 0.1f, 0);
    float *input = floats((size_t)k, 0.5f, 1), *whole = block((size_t)n * (size_t)k * sizeof *whole);
    for (int i = 0; i < n * k; i++) {
        w[i] = (int8_t)lrintf(127 * uniform());
        whole[i] = scale[i / k] * w[i] * input[i % k];
    }
    if (rk_set_linear(q, which, layer, w, scale, input, NULL, bias)) exit(2);
    if (rk_set_linear(f, which, layer, NULL, NULL, NULL, whole, bias)) exit(2);
    free(w), free(scale), free(bias), free(input), free(whole);
}

static void norms(rk_model *q, rk_model *f, int which, int layer, int n) {
    float *g = floats((size_t)n, 0.2f, 1), *b = floats((size_t)n, 0.2f, 0);
    if (rk_set_norm(q, which, layer, g, b) || rk_set_norm(f, which, layer, g, b)) exit(2);
    free(g), free(b);
}

static void forward(rk_run *r, int layers, const int32_t *ids, const int32_t *lens, int count, int pool, float *out) {
    int bad = rk_begin(r, ids, lens, count);
    for (int l = 0; l < layers && !bad; l++) bad = rk_layer(r, l);
    if (bad || rk_end(r, pool, out)) exit(2);
}

static double cosine(const float *a, const float *b, int n) {
    double ab = 0, aa = 0, bb = 0;
    for (int i = 0; i < n; i++) ab += (double)a[i] * b[i], aa += (double)a[i] * a[i], bb += (double)b[i] * b[i];
    return ab / sqrt(aa * bb);
}

static double try_path(rk_config c, int path, int pool, int step) {
    rk_config cf = c;
    c.path = path;
    cf.path = RK_PATH_PORTABLE;
    rk_model *q = rk_new(&c), *f = rk_new(&cf);
    if (!q || !f) exit(2);
    size_t words = (size_t)c.vocab * (size_t)c.hidden;
    int8_t *word = block(words);
    float *scale = floats((size_t)c.vocab, 0, 0.01f), *whole = block(words * sizeof *whole);
    for (size_t i = 0; i < words; i++) whole[i] = scale[i / (size_t)c.hidden] * (word[i] = (int8_t)lrintf(127 * uniform()));
    float *pos = floats((size_t)c.positions * (size_t)c.hidden, 0.3f, 0);
    if (rk_set_words(q, word, scale, NULL) || rk_set_words(f, NULL, NULL, whole)) exit(2);
    if (rk_set_positions(q, pos) || rk_set_positions(f, pos)) exit(2);
    norms(q, f, RK_NORM_EMBED, 0, c.hidden);
    for (int l = 0; l < c.layers; l++) {
        linear(q, f, RK_QKV, l, 3 * c.hidden, c.hidden);
        linear(q, f, RK_OUT, l, c.hidden, c.hidden);
        linear(q, f, RK_UP, l, c.ffn, c.hidden);
        linear(q, f, RK_DOWN, l, c.hidden, c.ffn);
        norms(q, f, RK_NORM_ATTEND, l, c.hidden);
        norms(q, f, RK_NORM_FFN, l, c.hidden);
    }
    double least = 1;
    for (int len = 1; len <= c.positions; len += len < 34 ? 1 : step) {
        int32_t lens[3] = {len, 1, (len + 1) / 2};
        int total = lens[0] + lens[1] + lens[2];
        int32_t *ids = block((size_t)total * sizeof *ids);
        for (int i = 0; i < total; i++) ids[i] = (int32_t)(fabsf(uniform()) * (float)(c.vocab - 1));
        rk_run *rq = rk_run_new(q, total), *rf = rk_run_new(f, total);
        float *a = block(3 * (size_t)c.hidden * sizeof *a), *b = block(3 * (size_t)c.hidden * sizeof *b);
        if (!rq || !rf) exit(2);
        forward(rq, c.layers, ids, lens, 3, pool, a);
        forward(rf, c.layers, ids, lens, 3, pool, b);
        for (int i = 0; i < 3; i++) {
            double x = cosine(a + i * c.hidden, b + i * c.hidden, c.hidden);
            if (!(x >= least)) least = x;
        }
        free(a), free(b), free(ids);
        rk_run_free(rq), rk_run_free(rf);
    }
    rk_free(q), rk_free(f);
    free(word), free(scale), free(whole), free(pos);
    return least;
}

int main(int argc, char **argv) {
    static const rk_config shapes[] = {
        {.layers = 1, .hidden = 64, .heads = 2, .ffn = 96, .vocab = 40, .positions = 512, .act = RK_ACT_GELU, .eps = 1e-12f},
        {.layers = 1, .hidden = 39, .heads = 3, .ffn = 51, .vocab = 40, .positions = 512, .act = RK_ACT_GELU_TANH, .eps = 1e-12f},
        {.layers = 2, .hidden = 20, .heads = 1, .ffn = 130, .vocab = 40, .positions = 512, .act = RK_ACT_RELU, .eps = 1e-12f},
    };
    int step = argc > 1 ? atoi(argv[1]) : 1, bad = 0;
    for (int path = RK_PATH_PORTABLE; path <= RK_PATH_SDOT; path++)
        for (size_t i = 0; rk_path(path) > 0 && i < sizeof shapes / sizeof *shapes; i++) {
            double least = try_path(shapes[i], path, (int)i % 2, step > 0 ? step : 1);
            printf("path %d, width %d: least cosine %.6f\n", path, shapes[i].hidden, least);
            if (!(least > 0.9995)) bad = 1;
        }
    return bad;
}
