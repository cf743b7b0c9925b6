/* The kernels of one path, written against its vector type:
 *
 *   vf, VW                  vector of VW floats
 *   vf_load vf_store vf_set vf_add vf_sub vf_mul vf_div vf_max vf_min
 *   vf_fma(a, b, c)         a*b + c
 *   vf_sum vf_top vf_low    across lanes, in a fixed order
 *   vf_round vf_scale2(x,n) nearest integer; x * 2^n for an integral n
 *   vf_from_i32 vf_from_i8  load and convert
 *   vf_to_u8(p, x)          store lanes, already 0..LEVELS, rounded to nearest
 *   vf_byte(p, shift)       lane i is the byte of p[4*i..4*i+4) that shift (24, 16, 8, 0) takes to the top
 *   F32_ROWS F32_COLS       tile of the float product
 *   I8_ROWS I8_COLS         tile of the int8 product
 *   tile_i8(rows, a, lda, b, l, c, acc)  acc[r][I8_COLS] of one tile, its channels c and up, packed at b
 *   LEVELS                  highest code of an activation: 255, or 127 where pairs are summed in 16 bits
 *   BRIEF_OUTLIERS          outliers taken in any case from a row of a short sequence
 *   SIGNED                  1: codes are stored minus 128
 *   OPS                     name of the rk_ops
 *
 * Products and sums that must not depend on the compiler are written as vf_fma. */

#define INLINE static inline __attribute__((always_inline))

/* exp(x) for x <= 0: 2^f by a polynomial of degree 5 (relative error 8e-8). */
INLINE vf vf_exp(vf x) {
    vf log2e = vf_set(1.44269504f);
    x = vf_max(x, vf_set(-87.0f));
    vf n = vf_round(vf_mul(x, log2e));
    vf f = vf_fma(x, log2e, vf_sub(vf_set(0), n));
    vf p = vf_set(0.0013410004f);
    p = vf_fma(p, f, vf_set(0.009676036f));
    p = vf_fma(p, f, vf_set(0.055502973f));
    p = vf_fma(p, f, vf_set(0.24022107f));
    p = vf_fma(p, f, vf_set(0.69314724f));
    p = vf_fma(p, f, vf_set(1.0000001f));
    return vf_scale2(p, n);
}

/* x/2 * (1 + erf(x/sqrt2)): erf(x/sqrt2)/x is a minimax polynomial in x*x on
 * |x| <= 4.5; the largest error of the result is 3e-5. */
INLINE vf vf_gelu(vf x) {
    static const float c[] = {0.79776758f,     -0.132674113f,   0.01966637f,    -0.00224535703f, 0.000195742716f,
                              -1.27305111e-5f, 5.91779667e-7f, -1.8387496e-8f, 3.39460737e-10f, -2.80013469e-12f};
    vf t = vf_min(vf_max(x, vf_set(-4.5f)), vf_set(4.5f));
    vf u = vf_mul(t, t);
    vf p = vf_set(c[9]);
    for (int i = 8; i >= 0; i--) p = vf_fma(p, u, vf_set(c[i]));
    vf half = vf_mul(x, vf_set(0.5f));
    return vf_fma(half, vf_mul(t, p), half);
}

/* The tanh form, as x * sigmoid(2 * sqrt(2/pi) * (x + 0.044715 x^3)). */
INLINE vf vf_gelu_tanh(vf x) {
    vf z = vf_mul(vf_mul(x, vf_set(1.59576912f)), vf_fma(vf_mul(x, x), vf_set(0.044715f), vf_set(1)));
    vf mag = vf_max(z, vf_sub(vf_set(0), z));
    vf e = vf_exp(vf_sub(vf_set(0), mag)); /* sigmoid(|z|) = 1/(1+e) */
    vf s = vf_div(vf_set(1), vf_add(vf_set(1), e));
    vf up = vf_mul(x, s), down = vf_mul(x, vf_mul(e, s));
    /* x and z have one sign: the larger of the two for x > 0 and for x < 0 alike */
    return vf_max(up, down);
}

INLINE vf activate(vf x, int act) {
    switch (act) {
    case RK_ACT_GELU: return vf_gelu(x);
    case RK_ACT_GELU_TANH: return vf_gelu_tanh(x);
    case RK_ACT_RELU: return vf_max(x, vf_set(0));
    default: return x;
    }
}

/* The three largest magnitudes seen in each lane, the largest first. */
typedef struct {
    vf m[3];
} tops;

INLINE void tops_add(tops *t, vf x) {
    vf rest = vf_min(t->m[0], x);
    t->m[0] = vf_max(t->m[0], x);
    x = vf_min(t->m[1], rest);
    t->m[1] = vf_max(t->m[1], rest);
    t->m[2] = vf_max(t->m[2], x);
}

INLINE vf vf_abs(vf x) { return vf_max(x, vf_sub(vf_set(0), x)); }

/* Multiplies x by the weights' input scales into row and notes the tops. */
INLINE void scale_row(const rk_linear *l, const float *x, float *row, tops *t) {
    const int kp = l->kp;
    tops u = {{vf_set(0), vf_set(0), vf_set(0)}};
    int i = 0;
    *t = u;
    for (; i + 2 * VW <= l->k; i += 2 * VW) { /* two at a time, since each is a chain of dependent steps */
        vf y = vf_mul(vf_load(x + i), vf_load(l->input + i));
        vf z = vf_mul(vf_load(x + i + VW), vf_load(l->input + i + VW));
        vf_store(row + i, y);
        vf_store(row + i + VW, z);
        tops_add(t, vf_abs(y));
        tops_add(&u, vf_abs(z));
    }
    for (int j = 0; j < 3; j++) tops_add(t, u.m[j]);
    for (int j = i; j < kp; j++) row[j] = j < l->k ? x[j] * l->input[j] : 0;
    for (; i < kp; i += VW) tops_add(t, vf_abs(vf_load(row + i)));
}

/* Takes the largest magnitudes out of row: always least of them, and up to two
 * of which the next is far smaller. */
INLINE void take_outliers(float *row, int kp, int least, const tops *t, rk_range *range) {
    float top[3][VW], size[RK_OUTLIERS + 1];
    int lane[RK_OUTLIERS + 1], keep = 0;
    for (int j = 0; j < 3; j++) vf_store(top[j], t->m[j]);
    for (int n = 0; n < 3; n++) { /* a lane's next moves up when its largest is taken */
        int best = 0;
        for (int i = 1; i < VW; i++)
            if (top[0][i] > top[0][best]) best = i;
        size[n] = top[0][best];
        lane[n] = best;
        top[0][best] = top[1][best];
        top[1][best] = top[2][best];
    }
    for (int n = 0; n < 2; n++)
        if (size[n] > 1.5f * size[n + 1]) keep = n + 1;
    if (least > keep) keep = least;
    for (int n = 0; n < keep; n++) {
        int at;
        if (n < 3) {
            for (at = lane[n]; at < kp - VW && fabsf(row[at]) != size[n];) at += VW;
        } else {
            at = 0;
            for (int i = 1; i < kp; i++)
                if (fabsf(row[i]) > fabsf(row[at])) at = i;
        }
        range->at[n] = at;
        range->rest[n] = row[at];
        row[at] = 0;
    }
    range->outliers = keep;
}

static void quantize(const rk_linear *l, const float *x, size_t ldx, int rows, const uint8_t *brief, float *row,
                     uint8_t *q, rk_range *range) {
    const int kp = l->kp;
    for (int r = 0; r < rows; r++, x += ldx, q += kp) {
        vf low = vf_set(0), high = vf_set(0), low2 = low, high2 = high; /* zero is always inside */
        tops t;
        int i;
        scale_row(l, x, row, &t);
        take_outliers(row, kp, brief[r] ? BRIEF_OUTLIERS : 0, &t, range + r);
        for (i = 0; i + 2 * VW <= kp; i += 2 * VW) {
            low = vf_min(low, vf_load(row + i));
            high = vf_max(high, vf_load(row + i));
            low2 = vf_min(low2, vf_load(row + i + VW));
            high2 = vf_max(high2, vf_load(row + i + VW));
        }
        for (; i < kp; i += VW) {
            low = vf_min(low, vf_load(row + i));
            high = vf_max(high, vf_load(row + i));
        }
        float lo = vf_low(vf_min(low, low2)), scale = (vf_top(vf_max(high, high2)) - lo) / LEVELS;
        vf inv = vf_set(scale > 1e-30f ? 1.0f / scale : 0), from = vf_set(lo), most = vf_set(LEVELS);
        for (i = 0; i < kp; i += VW)
            vf_to_u8(q + i, vf_max(vf_min(vf_mul(vf_sub(vf_load(row + i), from), inv), most), vf_set(0)));
        for (int n = 0; n < range[r].outliers; n++) /* its code stands for about zero; what it lacks */
            range[r].rest[n] -= scale * (float)q[range[r].at[n]] + lo;
        if (SIGNED)
            for (i = 0; i < kp; i++) q[i] ^= 128;
        range[r].scale = scale;
        range[r].low = SIGNED ? lo + 128 * scale : lo;
    }
}

/* Writes one tile of int32 sums as floats: scale, bias, activation, residual. */
INLINE void finish_i8(const rk_linear *l, int c0, const int8_t *b, const int32_t *acc, const rk_range *range, int rows,
                      float *out, size_t ldo, const float *res, size_t ldr, int act) {
    for (int c = 0; c < I8_COLS; c += VW) {
        vf scale = vf_load(l->scale + c0 + c), sum = vf_load(l->sum + c0 + c), bias = vf_load(l->bias + c0 + c);
        for (int r = 0; r < rows; r++) {
            vf v = vf_fma(vf_from_i32(acc + r * I8_COLS + c), vf_mul(scale, vf_set(range[r].scale)),
                          vf_fma(vf_set(range[r].low), sum, bias));
            for (int n = 0; n < range[r].outliers; n++) {
                int at = range[r].at[n];
                vf w = vf_byte(b + (size_t)(at / 4) * 4 * RK_BLOCK + 4 * c, 24 - 8 * (at % 4));
                v = vf_fma(w, vf_mul(scale, vf_set(range[r].rest[n])), v);
            }
            v = activate(v, act);
            if (res) v = vf_add(v, vf_load(res + r * ldr + c0 + c));
            vf_store(out + r * ldo + c0 + c, v);
        }
    }
}

INLINE void gemm_i8_act(const rk_linear *l, const uint8_t *a, const rk_range *range, int rows, float *out, size_t ldo,
                        const float *res, size_t ldr, int act) {
    int32_t acc[I8_ROWS * I8_COLS] __attribute__((aligned(64)));
    size_t block = (size_t)l->kp * RK_BLOCK;
    for (int c = 0; c < l->np; c += I8_COLS) {
        const int8_t *b = l->w8 + (size_t)(c / RK_BLOCK) * block + (size_t)(c % RK_BLOCK) * 4;
        for (int r = 0; r < rows; r += I8_ROWS) {
            int n = rows - r < I8_ROWS ? rows - r : I8_ROWS;
            tile_i8(n, a + (size_t)r * l->kp, (size_t)l->kp, b, l, c, acc);
            finish_i8(l, c, b, acc, range + r, n, out + r * ldo, ldo, res ? res + r * ldr : NULL, ldr, act);
        }
    }
}

static void gemm_i8(const rk_linear *l, const uint8_t *q, const rk_range *range, int rows, float *out, size_t ldo,
                     const float *res, size_t ldr, int act) {
    switch (act) { /* a constant in each, so that the inner loop has no switch */
    case RK_ACT_GELU: gemm_i8_act(l, q, range, rows, out, ldo, res, ldr, RK_ACT_GELU); break;
    case RK_ACT_NONE: gemm_i8_act(l, q, range, rows, out, ldo, res, ldr, RK_ACT_NONE); break;
    default: gemm_i8_act(l, q, range, rows, out, ldo, res, ldr, act); break;
    }
}

/* out[r][0..F32_COLS) = sum over k of a[r][k] * b[k][..]; rows is a constant. */
INLINE void tile_f32_n(int rows, const float *a, size_t lda, const float *b, int k, float *out, size_t ldo) {
    vf acc[F32_ROWS][F32_COLS / VW];
    for (int r = 0; r < rows; r++)
        for (int v = 0; v < F32_COLS / VW; v++) acc[r][v] = vf_set(0);
    for (int i = 0; i < k; i++, b += RK_BLOCK) {
        vf bv[F32_COLS / VW];
#pragma GCC unroll 8
        for (int v = 0; v < F32_COLS / VW; v++) bv[v] = vf_load(b + v * VW);
#pragma GCC unroll 12
        for (int r = 0; r < rows; r++) {
            vf av = vf_set(a[r * lda + i]);
#pragma GCC unroll 8
            for (int v = 0; v < F32_COLS / VW; v++) acc[r][v] = vf_fma(av, bv[v], acc[r][v]);
        }
    }
#pragma GCC unroll 12
    for (int r = 0; r < rows; r++)
#pragma GCC unroll 8
        for (int v = 0; v < F32_COLS / VW; v++) vf_store(out + r * ldo + v * VW, acc[r][v]);
}

static void tile_f32(int rows, const float *a, size_t lda, const float *b, int k, float *out, size_t ldo) {
    switch (rows) {
#define CASE(n) \
    case n: tile_f32_n(n <= F32_ROWS ? n : F32_ROWS, a, lda, b, k, out, ldo); break;
        CASE(1) CASE(2) CASE(3) CASE(4) CASE(5) CASE(6) CASE(7) CASE(8) CASE(9) CASE(10) CASE(11) CASE(12)
#undef CASE
    }
}

static void gemm_f32(const rk_linear *l, const float *a, size_t lda, int rows, float *out, size_t ldo, const float *res,
                     size_t ldr, int act) {
    for (int c = 0; c < l->np; c += F32_COLS) {
        const float *b = l->w32 + (size_t)(c / RK_BLOCK) * RK_BLOCK * l->k + c % RK_BLOCK;
        for (int r = 0; r < rows; r += F32_ROWS) {
            int n = rows - r < F32_ROWS ? rows - r : F32_ROWS;
            float *o = out + r * ldo + c;
            float acc[F32_ROWS * F32_COLS];
            tile_f32(n, a + r * lda, lda, b, l->k, acc, F32_COLS);
            for (int i = 0; i < n; i++)
                for (int v = 0; v < F32_COLS; v += VW) {
                    vf x = activate(vf_add(vf_load(acc + i * F32_COLS + v), vf_load(l->bias + c + v)), act);
                    if (res) x = vf_add(x, vf_load(res + (r + i) * ldr + c + v));
                    vf_store(o + i * ldo + v, x);
                }
        }
    }
}

/* The columns n..np of x are zero and stay so: gamma and beta are zero there. */
static void norm(float *x, size_t ldx, int rows, int n, int np, const float *gamma, const float *beta, float eps) {
    for (int r = 0; r < rows; r++, x += ldx) {
        vf s = vf_set(0), q = vf_set(0);
        for (int i = 0; i < np; i += VW) s = vf_add(s, vf_load(x + i));
        float mean = vf_sum(s) / n;
        vf m = vf_set(mean);
        for (int i = 0; i < np; i += VW) {
            vf d = vf_sub(vf_load(x + i), m);
            q = vf_fma(d, d, q);
        }
        float var = (vf_sum(q) - (float)(np - n) * (mean * mean)) / n;
        vf inv = vf_div(vf_set(1), vf_sqrt(vf_set((var > 0 ? var : 0) + eps)));
        for (int i = 0; i < np; i += VW) {
            vf d = vf_mul(vf_sub(vf_load(x + i), m), inv);
            vf_store(x + i, vf_fma(d, vf_load(gamma + i), vf_load(beta + i)));
        }
    }
}

/* Turns scores into exp(scale * (score - highest)), not yet divided by their sum, which it returns. */
INLINE float soften(float *s, int len, int lp, float scale) {
    const int whole = len / VW * VW;
    for (int i = len; i < lp; i++) s[i] = -INFINITY;
    vf top = vf_set(-INFINITY), top2 = top, sum = vf_set(0), by = vf_set(scale);
    int i = 0;
    for (; i + 2 * VW <= lp; i += 2 * VW) {
        top = vf_max(top, vf_load(s + i));
        top2 = vf_max(top2, vf_load(s + i + VW));
    }
    for (; i < lp; i += VW) top = vf_max(top, vf_load(s + i));
    top = vf_set(vf_top(vf_max(top, top2)));
    for (i = 0; i < whole; i += VW) {
        vf e = vf_exp(vf_mul(vf_sub(vf_load(s + i), top), by));
        vf_store(s + i, e);
        sum = vf_add(sum, e);
    }
    for (; i < lp; i += VW) { /* the padding counts as nothing */
        float tail[VW];
        vf_store(tail, vf_exp(vf_mul(vf_sub(vf_load(s + i), top), by)));
        for (int j = len > i ? len - i : 0; j < VW; j++) tail[j] = 0;
        vf e = vf_load(tail);
        vf_store(s + i, e);
        sum = vf_add(sum, e);
    }
    return vf_sum(sum);
}

static void attend(const float *q, const float *k, const float *v, size_t ldq, int len, int dim, float *out, size_t ldo,
                   float *scratch) {
    int lp = rk_round(len, RK_BLOCK), dp = rk_round(dim, RK_BLOCK);
    float *kt = scratch, *vp = kt + (size_t)lp * dim, *score = vp + (size_t)len * dp;
    float scale = 1.0f / sqrtf((float)dim);
    for (int t = 0; t < lp; t++) { /* keys by blocks of tokens: [block][dim][RK_BLOCK] */
        float *to = kt + (size_t)(t / RK_BLOCK) * RK_BLOCK * dim + t % RK_BLOCK;
        const float *from = k + (size_t)t * ldq;
        if (t < len)
            for (int d = 0; d < dim; d++) to[d * RK_BLOCK] = from[d];
        else
            for (int d = 0; d < dim; d++) to[d * RK_BLOCK] = 0;
    }
    for (int c = 0; c < dp; c += RK_BLOCK) /* values by blocks of channels: [block][len][RK_BLOCK] */
        for (int t = 0; t < len; t++) {
            float *to = vp + (size_t)c * len + (size_t)t * RK_BLOCK;
            const float *from = v + (size_t)t * ldq + c;
            if (c + RK_BLOCK <= dim)
                for (int d = 0; d < RK_BLOCK; d += VW) vf_store(to + d, vf_load(from + d));
            else
                for (int d = 0; d < RK_BLOCK; d++) to[d] = c + d < dim ? from[d] : 0;
        }
    for (int r = 0; r < len; r += F32_ROWS) {
        int n = len - r < F32_ROWS ? len - r : F32_ROWS;
        float sum[F32_ROWS];
        for (int c = 0; c < lp; c += F32_COLS)
            tile_f32(n, q + r * ldq, ldq, kt + (size_t)(c / RK_BLOCK) * RK_BLOCK * dim + c % RK_BLOCK, dim, score + c,
                     (size_t)lp);
        for (int i = 0; i < n; i++) sum[i] = 1.0f / soften(score + (size_t)i * lp, len, lp, scale);
        for (int c = 0; c < dp; c += F32_COLS) {
            float *o = out + r * ldo + c;
            tile_f32(n, score, (size_t)lp, vp + (size_t)(c / RK_BLOCK) * RK_BLOCK * len + c % RK_BLOCK, len, o, ldo);
            for (int i = 0; i < n; i++)
                for (int x = 0; x < F32_COLS; x += VW)
                    vf_store(o + i * ldo + x, vf_mul(vf_load(o + i * ldo + x), vf_set(sum[i])));
        }
    }
}

static void embed(const int8_t *word, float scale, const float *word_f32, const float *position, int n, float *x) {
    int i = 0;
    vf s = vf_set(scale);
    for (; i + VW <= n; i += VW) {
        vf p = vf_load(position + i);
        vf_store(x + i, word_f32 ? vf_add(vf_load(word_f32 + i), p) : vf_fma(vf_from_i8(word + i), s, p));
    }
    for (; i < n; i++) x[i] = (word_f32 ? word_f32[i] : (float)word[i] * scale) + position[i];
}

static void add(float *sum, const float *x, int n) {
    for (int i = 0; i < n; i += VW) vf_store(sum + i, vf_add(vf_load(sum + i), vf_load(x + i)));
}

const rk_ops OPS = {quantize, gemm_i8, gemm_f32, norm, attend, embed, add};
