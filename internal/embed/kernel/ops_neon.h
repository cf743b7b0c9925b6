/* The vector type of both NEON paths. */
#include <arm_neon.h>
#include <math.h>
#include <string.h>

#include "ops.h"
#include "target.h"

typedef float32x4_t vf;
#define VW 4

static inline vf vf_load(const float *p) { return vld1q_f32(p); }
static inline void vf_store(float *p, vf x) { vst1q_f32(p, x); }
static inline vf vf_set(float x) { return vdupq_n_f32(x); }
static inline vf vf_add(vf a, vf b) { return vaddq_f32(a, b); }
static inline vf vf_sub(vf a, vf b) { return vsubq_f32(a, b); }
static inline vf vf_mul(vf a, vf b) { return vmulq_f32(a, b); }
static inline vf vf_div(vf a, vf b) { return vdivq_f32(a, b); }
static inline vf vf_max(vf a, vf b) { return vmaxq_f32(a, b); }
static inline vf vf_min(vf a, vf b) { return vminq_f32(a, b); }
static inline vf vf_fma(vf a, vf b, vf c) { return vfmaq_f32(c, a, b); }
static inline vf vf_sqrt(vf a) { return vsqrtq_f32(a); }
static inline vf vf_round(vf a) { return vrndnq_f32(a); }
static inline vf vf_scale2(vf x, vf n) {
    int32x4_t e = vshlq_n_s32(vaddq_s32(vcvtq_s32_f32(n), vdupq_n_s32(127)), 23);
    return vmulq_f32(x, vreinterpretq_f32_s32(e));
}
static inline float vf_sum(vf a) { return vaddvq_f32(a); }
static inline float vf_top(vf a) { return vmaxvq_f32(a); }
static inline float vf_low(vf a) { return vminvq_f32(a); }
static inline vf vf_from_i32(const int32_t *p) { return vcvtq_f32_s32(vld1q_s32(p)); }
static inline vf vf_from_i8(const int8_t *p) {
    int8x8_t x = vdup_n_s8(0);
    memcpy(&x, p, 4);
    return vcvtq_f32_s32(vmovl_s16(vget_low_s16(vmovl_s8(x))));
}
static inline void vf_to_u8(uint8_t *p, vf x) {
    uint16x4_t w = vqmovn_u32(vcvtnq_u32_f32(x));
    uint8x8_t b = vqmovn_u16(vcombine_u16(w, w));
    memcpy(p, &b, 4);
}
static inline vf vf_byte(const int8_t *p, int shift) {
    int32x4_t x = vshlq_s32(vreinterpretq_s32_s8(vld1q_s8(p)), vdupq_n_s32(shift));
    return vcvtq_f32_s32(vshrq_n_s32(x, 24));
}

#define F32_ROWS 4
#define F32_COLS 16
#define LEVELS 255
#define BRIEF_OUTLIERS 0
#define SIGNED 1
