/// Vector functions that the NEON kernels share.
#ifndef CK_NEON_MATH_H
#define CK_NEON_MATH_H

#include <arm_neon.h>
#include <string.h>

#include "neon_loops.h"

/// e to the `x`, relative error below 2e-7; 0 below -87.3 (no subnormal results), the greatest float's vicinity above 88.3.
/// Range reduction by powers of two, then a polynomial of degree 6 (Taylor; its remainder on ±ln 2 / 2 is 1.2e-7 relative).
INLINE float32x4_t exp_vector(float32x4_t x) {
    const uint32x4_t vanishes = vcltq_f32(x, vdupq_n_f32(-87.3f));    // false for NaN, which passes through
    x = vminq_f32(x, vdupq_n_f32(88.3f));
    const int32x4_t power = vcvtnq_s32_f32(vmulq_n_f32(x, 1.44269504088896341f));
    const float32x4_t n = vcvtq_f32_s32(power);
    float32x4_t r = vfmsq_n_f32(x, n, 0.693145751953125f);    // ln 2 in two parts
    r = vfmsq_n_f32(r, n, 1.42860682030941723e-6f);
    float32x4_t p = vfmaq_n_f32(vdupq_n_f32(1.0f / 120), r, 1.0f / 720);
    p = vfmaq_f32(vdupq_n_f32(1.0f / 24), p, r);
    p = vfmaq_f32(vdupq_n_f32(1.0f / 6), p, r);
    p = vfmaq_f32(vdupq_n_f32(0.5f), p, r);
    p = vfmaq_f32(vdupq_n_f32(1), p, r);
    p = vfmaq_f32(vdupq_n_f32(1), p, r);
    const uint32x4_t bits = vaddq_u32(vreinterpretq_u32_f32(p), vshlq_n_u32(vreinterpretq_u32_s32(power), 23));
    return vreinterpretq_f32_u32(vbicq_u32(bits, vanishes));
}

/// Hyperbolic tangent by way of the exponential of minus twice the magnitude; absolute error below 2e-7.
INLINE float32x4_t tanh_vector(float32x4_t x) {
    const float32x4_t one = vdupq_n_f32(1), e = exp_vector(vmulq_n_f32(vabsq_f32(x), -2));
    return vbslq_f32(vdupq_n_u32(0x80000000u), x, vdivq_f32(vsubq_f32(one, e), vaddq_f32(one, e)));
}

INLINE float32x4_t soft_cap_vector(float32x4_t x, float cap, float inverse) {
    return vmulq_n_f32(tanh_vector(vmulq_n_f32(x, inverse)), cap);
}

/// The first `count` (1...3) elements, then noughts: what remains of an array.
INLINE float32x4_t load_some(const float *p, int64_t count) {
    float some[4] = {0};
    memcpy(some, p, sizeof(float) * (size_t)count);
    return vld1q_f32(some);
}

INLINE void store_some(float *p, float32x4_t v, int64_t count) {
    float some[4];
    vst1q_f32(some, v);
    memcpy(p, some, sizeof(float) * (size_t)count);
}

/// The first `count` lanes, as a mask; none below 1, all from 4 on.
INLINE uint32x4_t first_lanes(int64_t count) {
    static const int32_t lanes[4] = {0, 1, 2, 3};
    return vcltq_s32(vld1q_s32(lanes), vdupq_n_s32(count < 0 ? 0 : count > 4 ? 4 : (int32_t)count));
}

#endif
