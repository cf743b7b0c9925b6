/* Any CPU: four lanes that the compiler maps to what there is. */
#include <math.h>
#include <string.h>

#include "ops.h"

typedef float vf __attribute__((vector_size(16), aligned(4), may_alias));
#define VW 4
#define EACH(expr) ((vf){expr(0), expr(1), expr(2), expr(3)})

static inline vf vf_load(const float *p) { return *(const vf *)p; }
static inline void vf_store(float *p, vf x) { *(vf *)p = x; }
static inline vf vf_set(float x) { return (vf){x, x, x, x}; }
static inline vf vf_add(vf a, vf b) { return a + b; }
static inline vf vf_sub(vf a, vf b) { return a - b; }
static inline vf vf_mul(vf a, vf b) { return a * b; }
static inline vf vf_div(vf a, vf b) { return a / b; }
/* Two roundings: without a fused instruction, fmaf would be a library call. */
static inline vf vf_fma(vf a, vf b, vf c) { return a * b + c; }
#define MAX1(i) (a[i] > b[i] ? a[i] : b[i])
#define MIN1(i) (a[i] < b[i] ? a[i] : b[i])
static inline vf vf_max(vf a, vf b) { return EACH(MAX1); }
static inline vf vf_min(vf a, vf b) { return EACH(MIN1); }
static inline float vf_sum(vf a) { return (a[0] + a[2]) + (a[1] + a[3]); }
static inline float vf_top(vf a) { return fmaxf(fmaxf(a[0], a[2]), fmaxf(a[1], a[3])); }
static inline float vf_low(vf a) { return fminf(fminf(a[0], a[2]), fminf(a[1], a[3])); }
/* Adding 1.5 * 2^23 leaves no room for a fraction. */
static inline vf vf_round(vf x) { return (x + 12582912.0f) - 12582912.0f; }
static inline vf vf_sqrt(vf a) { return (vf){sqrtf(a[0]), sqrtf(a[1]), sqrtf(a[2]), sqrtf(a[3])}; }
static inline vf vf_scale2(vf x, vf n) {
    for (int i = 0; i < VW; i++) {
        union {
            uint32_t bits;
            float f;
        } two = {(uint32_t)((int32_t)n[i] + 127) << 23};
        x[i] *= two.f;
    }
    return x;
}
static inline vf vf_from_i32(const int32_t *p) { return (vf){(float)p[0], (float)p[1], (float)p[2], (float)p[3]}; }
static inline vf vf_from_i8(const int8_t *p) { return (vf){p[0], p[1], p[2], p[3]}; }
static inline void vf_to_u8(uint8_t *p, vf x) {
    x = vf_round(x);
    for (int i = 0; i < VW; i++) p[i] = (uint8_t)x[i];
}
static inline vf vf_byte(const int8_t *p, int shift) {
    p += 3 - shift / 8;
    return (vf){p[0], p[4], p[8], p[12]};
}

#define F32_ROWS 2
#define F32_COLS 16
#define I8_ROWS 2
#define I8_COLS 16
#define LEVELS 255
#define BRIEF_OUTLIERS 0
#define SIGNED 0
#define OPS rk_ops_portable

typedef int16_t v16 __attribute__((vector_size(16), aligned(1), may_alias));
typedef int32_t v32 __attribute__((vector_size(16), aligned(4), may_alias));
typedef uint16_t u16 __attribute__((vector_size(16)));
typedef uint32_t u32 __attribute__((vector_size(16)));

/* The sums of neighbouring products, widened. A product of a code and a weight fits into 16 bits. */
static inline v32 pairs(v16 p) { return ((v32)((u32)p << 16) >> 16) + ((v32)p >> 16); }

/* Which byte of a 16-bit lane is which input depends on the byte order, but
 * activations and weights are taken apart in the same way. */
static void tile_i8(int rows, const uint8_t *a, size_t lda, const int8_t *b, const rk_linear *l, int c, int32_t *acc) {
    const int kp = l->kp;
    (void)c;
    v32 sum[I8_ROWS][4];
    memset(sum, 0, sizeof sum);
    for (int i = 0; i < kp / 4; i++, b += 4 * RK_BLOCK, a += 4) {
        v16 low[4], high[4];
        for (int v = 0; v < 4; v++) {
            v16 w = *(const v16 *)(b + 16 * v);
            low[v] = (v16)((u16)w << 8) >> 8;
            high[v] = w >> 8;
        }
        for (int r = 0; r < rows; r++) {
            uint32_t four;
            memcpy(&four, a + (size_t)r * lda, 4);
            u16 x = (u16)(u32){four, four, four, four};
            v16 even = (v16)(x & 255), odd = (v16)(x >> 8);
            for (int v = 0; v < 4; v++) sum[r][v] += pairs(low[v] * even) + pairs(high[v] * odd);
        }
    }
    memcpy(acc, sum, sizeof(int32_t) * (size_t)rows * I8_COLS);
}

#include "ops_body.h"
